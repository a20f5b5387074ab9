// The one operation that the worker of passphrases asks for: the others' names would travel with it for nothing.
export const stretching = { stretchPassphrase: 68 };
