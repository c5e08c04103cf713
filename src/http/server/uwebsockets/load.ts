import type * as uws from 'uWebSockets.js';
import { createRequire } from 'node:module';

export type UwsModule = typeof uws;

/**
 * Loads uWebSockets.js, whose binaries are for some versions of Node on some systems alone: those for Node 22
 * and 24 need glibc 2.38, and there is none for musl.
 * @throws Error that says in its last line what is missing
 */
export const loadUws = (): UwsModule => createRequire(import.meta.url)('uWebSockets.js') as UwsModule;
