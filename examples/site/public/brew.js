const form = document.querySelector('#brew');
const kettle = document.querySelector('#kettle');
const cup = document.querySelector('#cup');
const button = form.querySelector('button');

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const query = new URLSearchParams({ tea: form.querySelector('#tea').value, delay: form.dataset.delay });
  kettle.hidden = false;
  button.disabled = true;
  cup.textContent = '';
  try {
    const response = await fetch(`/api/brew?${query}`);
    if (!response.ok) throw new Error((await response.json()).error);
    const { tea, minutes, celsius } = await response.json();
    cup.textContent = `${tea} is ready: ${minutes} min at ${celsius} °C.`;
  } catch (error) {
    cup.textContent = `The kettle failed: ${error.message}`;
  } finally {
    kettle.hidden = true;
    button.disabled = false;
  }
});
