/** The reason why a wall is not current; undefined while it is. */

import { signal } from '@preact/signals'
import type { Failure } from '../client/read-json.ts'

export const wallFailure = signal<Failure | undefined>(undefined)
