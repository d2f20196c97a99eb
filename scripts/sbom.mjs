import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';

/** Where the list of what is bundled is shipped: CycloneDX, as JSON. */
const SBOM_FILE = join('dist', 'sbom.cdx.json');

/**
 * Writes {@link SBOM_FILE}. The same sources give the same file: it has neither a timestamp nor a serial number.
 * @param {string[]} directories of the packages of which a file was bundled
 */
export function writeSbom(directories) {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const bom = new Models.Bom();
  const own = componentOf('.', Enums.ComponentType.Application);
  bom.metadata.component = own;
  for (const directory of directories) {
    const component = componentOf(directory, Enums.ComponentType.Library);
    // `node_modules` may be a link (scripts/without.mjs).
    const place = directory.slice(directory.indexOf('node_modules')).replaceAll('\\', '/');
    const { integrity } = lock.packages[place] ?? {};
    // What npm has checked when it was installed.
    const [, sha512] = /^sha512-(.*)$/.exec(integrity ?? '') ?? [];
    if (!sha512) throw new Error(`package-lock.json has no checksum of ${place}`);
    component.hashes.set(Enums.HashAlgorithm['SHA-512'], Buffer.from(sha512, 'base64').toString('hex'));
    bom.components.add(component);
    own.dependencies.add(component.bomRef);
  }
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  writeFileSync(SBOM_FILE, `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`);
}

function componentOf(directory, type) {
  const { name, version, license, description } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const purl = `pkg:npm/${name.replace(/^@/, '%40')}@${version}`;
  const licence = / (AND|OR|WITH) /.test(license)
    ? new Models.LicenseExpression(license)
    : new Models.SpdxLicense(license);
  const licenses = new Models.LicenseRepository([licence]);
  return new Models.Component(type, name, { version, description, purl, bomRef: purl, licenses });
}
