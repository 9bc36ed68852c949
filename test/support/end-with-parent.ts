/** Preloaded by the test runner and every test: they end with their parent, and what they have started ends with them. */

import { isMainThread } from 'node:worker_threads'
import { watchParent } from '../../service/parent.ts'

if (isMainThread) watchParent(process.ppid, () => process.exit(1))
