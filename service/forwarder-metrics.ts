/** Metrics of a process that forwards, read at each scrape. */

import { Gauge, type Registry } from 'prom-client'
import type { ForwardStatus } from '../ingest/kafka/forward-status.ts'
import type { NumberedForwarder } from './open-topics.ts'

export function addForwarders(
  registry: Registry,
  forwarders: readonly Pick<NumberedForwarder, 'number' | 'status'>[],
): void {
  new Gauge({
    name: 'barograph_forwarder_held',
    help: '1 while this process forwards to the replica, 0 while it stands by.',
    labelNames: ['replica'],
    registers: [registry],
    collect() {
      for (const { number, status } of forwarders) this.set({ replica: number }, status() === undefined ? 0 : 1)
    },
  })
  const add = (name: string, help: string, value: (status: ForwardStatus) => number) => {
    new Gauge({
      name: `barograph_forwarder_${name}`,
      help: `${help} None while it stands by.`,
      labelNames: ['replica', 'topic'],
      registers: [registry],
      collect() {
        this.reset()
        for (const { number, status } of forwarders) {
          for (const each of status() ?? []) this.set({ replica: number, topic: each.topic }, value(each.status))
        }
      },
    })
  }
  add('applied_offset', 'Offset before which QuestDB shows everything.', ({ applied }) => applied)
  add('fetched_offset', 'Offset of the next record to be fetched.', ({ applied, spool }) => spool?.next ?? applied)
  add('rows', 'Rows that QuestDB has taken.', ({ forwarder }) => forwarder.rows)
  add('table_suspended', '1 while QuestDB has suspended the table.', ({ forwarder }) => (forwarder.suspended ? 1 : 0))
  add('damaged_groups', 'Records of the topic that were no groups.', ({ spool }) => spool?.damagedGroups ?? 0)
  add('lost_groups', 'Records that the topic had removed too early.', ({ spool }) => spool?.lostGroups ?? 0)
}
