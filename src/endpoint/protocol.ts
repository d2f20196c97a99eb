import browser from 'devtools-protocol/json/browser_protocol.json';
import js from 'devtools-protocol/json/js_protocol.json';

/** The Chrome DevTools Protocol, as of `/json/protocol`. The build takes the descriptions away. */
export const protocol: object = { version: browser.version, domains: [...browser.domains, ...js.domains] };
