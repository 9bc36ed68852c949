/** The folders with the code that a service runs: those that the package is built of. */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const text = readFileSync(resolve(import.meta.dirname, '../../tsconfig.build.json'), 'utf8')
const { include } = JSON.parse(text) as { include: string[] }
export const productionFolders: readonly string[] = include
