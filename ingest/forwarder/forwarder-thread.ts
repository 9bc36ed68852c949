/** The forwarder's thread for a journal on the disk of this process. */

import { workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../store/thread-priority.ts'
import { openDisk } from '../journal/disk.ts'
import { systemTiming } from '../timing.ts'
import type { ForwarderThreadData } from './forwarder-status.ts'
import { type JournalSourceData, openJournalSource } from './group-source.ts'
import { runForwarder } from './run-forwarder.ts'

const data: ForwarderThreadData<JournalSourceData> = workerData
const { directory, durableEnd, end } = data.source

// No acknowledgement waits for this thread.
lowerThreadPriority('below normal')
runForwarder(data, () =>
  openJournalSource({
    disk: openDisk(directory),
    durableEnd,
    end,
    quiesceMs: data.quiesceMs,
    timing: systemTiming,
  }),
)
