// What is used of qrcode.mjs.
export function qrcode(version: number, errorCorrection: 'L' | 'M' | 'Q' | 'H'): {
    addData(data: string, mode: 'Byte'): void;
    make(): void;
    getModuleCount(): number;
    isDark(row: number, column: number): boolean;
};
