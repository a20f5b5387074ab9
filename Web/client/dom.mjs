// Elements, whose text is always text: nothing here takes markup.

/**
 * @template {string} Name
 * @typedef {Name extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Name] : HTMLElement} Named
 */

/**
 * @template {string} Tag
 * @typedef {Tag extends `${infer Name}.${string}` ? Named<Name> : Named<Tag>} Tagged
 */

/**
 * @typedef {{ onclick?: (event: MouseEvent) => unknown, onsubmit?: (event: SubmitEvent) => unknown, [name: string]: unknown }} Properties
 * @typedef {Node | string | null | false | undefined} Child
 */

/**
 * @template {string} Tag
 * @param {Tag} tag its name, and after dots its classes
 * @param {Properties} [properties] `on…` listens; `data`, `aria` and whatever has a hyphen are attributes
 * @param {...Child} children
 * @returns {Tagged<Tag>}
 */
export function element(tag, properties = {}, ...children) {
    const [name, ...classes] = tag.split('.');
    const made = document.createElement(name);
    if (classes.length > 0) made.className = classes.join(' ');
    for (const [key, value] of Object.entries(properties)) {
        if (value === undefined || value === null || value === false) continue;
        if (key.startsWith('on')) made.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
        else if (key.includes('-') || key === 'role' || key === 'for') made.setAttribute(key, String(value));
        else Object.assign(made, { [key]: value });
    }
    for (const child of children) {
        if (child !== null && child !== false && child !== undefined) made.append(child);
    }
    return /** @type {Tagged<Tag>} */ (made);
}

const shapes = {
    lock: 'M7 10V7a5 5 0 0 1 10 0v3h1a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1zm2 0h6V7a3 3 0 0 0-6 0z',
    check: 'M9.5 17.5 4 12l1.8-1.8 3.7 3.7 8.7-8.7L20 7z',
    warning: 'M12 3 1.5 21h21zm-1 7h2v5h-2zm0 6.5h2v2h-2z',
    person: 'M12 12a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zm0 2c-4 0-8 2-8 5v2h16v-2c0-3-4-5-8-5z',
    file: 'M6 2h8l5 5v15H6zm7 1.5V8h4.5z',
};

/**
 * A picture that is drawn, since a font may not have it.
 * @param {keyof typeof shapes} name
 * @param {string} [label] what it says; without one it is decoration
 */
export function icon(name, label) {
    const namespace = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(namespace, 'svg');
    svg.setAttribute('viewBox', '0 0 24 24');
    svg.setAttribute('class', 'icon');
    if (label) {
        svg.setAttribute('role', 'img');
        svg.setAttribute('aria-label', label);
    } else {
        svg.setAttribute('aria-hidden', 'true');
    }
    const path = document.createElementNS(namespace, 'path');
    path.setAttribute('d', shapes[name]);
    svg.append(path);
    return svg;
}
