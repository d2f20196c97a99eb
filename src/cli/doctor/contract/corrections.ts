import type { ServiceEndpoint } from './service-endpoints.ts';
import type { Shape } from './shape.ts';

/**
 * Where the service document corrects the live description (its section 9), as far as shapes say it: `duration` accepts
 * 60, and a balance may be negative. Its other corrections are of statuses, which the client takes by their kind.
 */
export function corrected(endpoint: ServiceEndpoint): ServiceEndpoint {
  switch (`${endpoint.method} ${endpoint.path}`) {
    case 'POST /v1/browser/session':
      return { ...endpoint, body: withProperty(endpoint.body, 'duration', { min: 60 }) };
    case 'GET /v1/account/balance':
      return { ...endpoint, response: withProperty(endpoint.response, 'balance_cents', { min: null }) };
    default:
      return endpoint;
  }
}

function withProperty(shape: Shape | null, name: string, correction: Partial<Shape>): Shape | null {
  const property = shape?.properties.get(name);
  if (!shape || !property) return shape;
  return { ...shape, properties: new Map([...shape.properties, [name, { ...property, ...correction }]]) };
}
