/** The order form asks a popup for the tin; the popup answers with a message. */
const shown = document.querySelector('#tin-shown');
const field = document.querySelector('#tin');

document.querySelector('#choose-tin').addEventListener('click', () => {
  window.open('/tins', 'tins', 'popup,width=420,height=480');
});

window.addEventListener('message', (event) => {
  if (event.origin !== location.origin || typeof event.data?.tin !== 'string') return;
  shown.value = event.data.tin;
  field.value = event.data.tin;
});

document.querySelector('[aria-invalid]')?.focus();
