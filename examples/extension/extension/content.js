/** Puts the time a tea takes behind its name, on any page. */
for (const tea of document.querySelectorAll('[data-minutes]')) tea.append(` (${tea.dataset.minutes} min)`);
