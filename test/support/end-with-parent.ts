/** Preloaded by the test runner and every test: each ends with its parent, together with its children. */

import { isMainThread } from 'node:worker_threads'
import { watchParent } from '../../service/parent.ts'

if (isMainThread) watchParent(process.ppid, () => process.exit(1))
