/** The look, kept in localStorage. Loaded before the page is painted, so that a dark page never flashes white. */
const KEY = 'look';

function apply(look) {
  document.documentElement.toggleAttribute('data-look', look !== '');
  if (look) document.documentElement.dataset.look = look;
}

apply(localStorage.getItem(KEY) ?? '');

document.addEventListener('DOMContentLoaded', () => {
  const select = document.querySelector('#look');
  if (!select) return;
  select.value = localStorage.getItem(KEY) ?? '';
  select.addEventListener('change', () => {
    localStorage.setItem(KEY, select.value);
    apply(select.value);
  });
});
