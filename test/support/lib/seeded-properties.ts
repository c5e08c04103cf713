import fc from 'fast-check';
import { testSeed } from './seed.ts';

// Runs before each test file. fast-check prints the seed of a failure.
fc.configureGlobal({ seed: testSeed });
