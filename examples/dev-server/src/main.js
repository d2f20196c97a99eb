import { greeting } from './greeting.js';
import './style.css';

function show(text) {
  document.querySelector('h1').textContent = text;
}

show(greeting);
// The page stays as it is, with what was typed into it.
import.meta.hot?.accept('./greeting.js', (replaced) => show(replaced.greeting));
