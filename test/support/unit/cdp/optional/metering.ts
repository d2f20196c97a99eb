import type { Meter } from '../../../../../src/cdp/figures.ts';
import { Metering } from '../../../../../src/cdp/metering/metering.ts';
import type { InterceptorFactory } from '../../../../../src/cdp/transport/interceptor.ts';

export function interceptors(meter: Meter): Record<string, InterceptorFactory> {
  return { metering: (link) => new Metering(link, meter, () => false) };
}
