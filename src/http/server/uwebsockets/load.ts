import type * as uws from 'uWebSockets.js';
import { createRequire } from 'node:module';

export type UwsModule = typeof uws;

/**
 * Loads uWebSockets.js. It has binaries only for some versions of Node on some systems: those for Node 22 and
 * 24 need glibc 2.38, and there are none for musl.
 * @throws Error whose last line says what is missing
 */
export const loadUws = (): UwsModule => createRequire(import.meta.url)('uWebSockets.js') as UwsModule;
