document.addEventListener('click', (event) => {
  const tin = event.target.closest('[data-tin]')?.dataset.tin;
  if (!tin) return;
  window.opener?.postMessage({ tin }, location.origin);
  window.close();
});
