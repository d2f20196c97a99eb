import { begin, type Given } from './begin.ts';
import { listenOffered } from './event-source.ts';
import { fetchOffered } from './fetch.ts';
import { OfferedAnswers, type Said } from './offered-answers.ts';
import { requestOffered } from './xml-http-request.ts';

/** Lets `fetch`, `XMLHttpRequest` and `EventSource` take what the transport offers. */
export function run(given: Given): void {
  begin<Said>(given, (tell) => {
    const answers = new OfferedAnswers(tell);
    fetchOffered(answers);
    requestOffered(answers);
    listenOffered(answers);
    return (said) => answers.take(said);
  });
}
