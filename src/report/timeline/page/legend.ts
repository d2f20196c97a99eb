import { element } from '../../../common/page/dom.ts';
import { LOOKS, type Look } from './look.ts';

/** Explains the symbols. */
export function legend(): HTMLElement {
  const list = element('ul', { class: 'legend', 'aria-label': 'Legend' });
  const add = (className: string, mark: string, word: string) => {
    const sample = element('span', { class: `sample ${className}`, 'aria-hidden': 'true' });
    if (mark !== '') sample.append(element('b', {}, mark));
    list.append(element('li', {}, sample, word));
  };
  for (const look of Object.keys(LOOKS) as Look[]) add(`test ${look}`, LOOKS[look].mark, LOOKS[look].word);
  add('session', '', 'browser, idle');
  add('start', '', 'browser starts');
  add('wait', '', 'worker waits');
  add('end-mark', '✕', 'ended with an error');
  add('end-mark', '↻', 'replaced in time');
  return list;
}
