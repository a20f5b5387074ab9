// SealKit for web apps, in CloudKit JS's shape: what is sealed is opened, and what is signed is verified, on this machine.
import { Asset } from './asset.mjs';
import { Container, DatabaseScope } from './container.mjs';
import { badRequest, CKError } from './errors.mjs';
import { remoteContainer, retire } from './remote.mjs';

/** @type {Map<string, Container>} */
const containers = new Map();
/** @type {Container[]} */
let configured = [];

/**
 * Once, as a rule: those who are signed in to containers that were configured before are signed out.
 * @param {{ containers: import('./container.mjs').ContainerConfiguration[] }} configuration the first one is the default
 */
export function configure({ containers: given }) {
    if (!Array.isArray(given) || given.length === 0) throw badRequest('Configure one container or more.');
    const made = given.map(one => {
        const container = new Container(one);
        // Where there is a page, its thread is for its user; a worker, and node, have nobody who waits.
        return one.worker !== false && typeof document === 'object' && typeof Worker === 'function' ? remoteContainer(one, container) : container;
    });
    // Nobody would have them any more to sign out by.
    for (const one of configured) void retire(one);
    configured = made;
    containers.clear();
    for (const one of made) containers.set(one.containerIdentifier, one);
    return { getDefaultContainer, getContainer, getAllContainers };
}

/** @returns {Container} */
export function getDefaultContainer() {
    if (configured.length === 0) throw badRequest('Call configure first.');
    return configured[0];
}

/** @param {string} containerIdentifier @returns {Container} */
export function getContainer(containerIdentifier) {
    const container = containers.get(containerIdentifier);
    if (!container) throw badRequest(`No container ${containerIdentifier} is configured.`);
    return container;
}

export const getAllContainers = () => [...containers.values()];

export { Asset, CKError, Container, DatabaseScope };
export default { configure, getDefaultContainer, getContainer, getAllContainers, CKError, DatabaseScope };
