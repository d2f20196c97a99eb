/** The shopping list: JSON over fetch, dialogs for renaming and clearing, a blob for saving. */
const list = document.querySelector('#items');
const state = document.querySelector('#state');
const input = document.querySelector('#item');
let items = [];

async function call(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: body ? { 'content-type': 'application/json' } : {},
    body: body ? JSON.stringify(body) : undefined,
  });
  const answer = response.status === 204 ? null : await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

async function refresh() {
  ({ items } = await call('GET', '/api/list'));
  list.replaceChildren(...items.map(row));
  state.textContent = items.length === 1 ? '1 item' : `${items.length} items`;
}

function button(text, label, onClick) {
  const element = document.createElement('button');
  element.type = 'button';
  element.className = 'plain';
  element.textContent = text;
  element.setAttribute('aria-label', label);
  element.addEventListener('click', () => change(onClick));
  return element;
}

function row(item) {
  const element = document.createElement('li');
  const text = document.createElement('span');
  text.textContent = item.text;
  element.append(
    text,
    button('Rename', `Rename ${item.text}`, () => rename(item)),
    button('Remove', `Remove ${item.text}`, () => call('DELETE', `/api/list/${item.id}`)),
  );
  return element;
}

async function rename(item) {
  const text = prompt('New name', item.text);
  if (text !== null) await call('PATCH', `/api/list/${item.id}`, { text });
}

async function clear() {
  if (items.length === 0) alert('The list is empty already.');
  else if (confirm(`Remove all ${items.length} items?`)) await call('DELETE', '/api/list');
}

/** Does what the user asked, shows the list as the server has it now, or says why not. */
async function change(action) {
  try {
    await action();
    await refresh();
  } catch (error) {
    state.textContent = `That did not work: ${error.message}`;
  }
}

function save() {
  const blob = new Blob(
    [
      JSON.stringify(
        items.map((item) => item.text),
        null,
        2,
      ),
    ],
    { type: 'application/json' },
  );
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = 'shopping-list.json';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

document.querySelector('#add').addEventListener('submit', (event) => {
  event.preventDefault();
  change(async () => {
    await call('POST', '/api/list', { text: input.value });
    input.value = '';
  });
});
document.querySelector('#clear').addEventListener('click', () => change(clear));
document.querySelector('#save').addEventListener('click', save);
change(async () => {});
