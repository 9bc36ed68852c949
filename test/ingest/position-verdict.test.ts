/** What a forwarder does by what QuestDB says of its journal. */

import t from 'tap'
import { isAccepted, type JournalPlace, judgePosition, verdictText } from '../../ingest/forwarder/position-verdict.ts'

const place: JournalPlace = { committed: 1000, start: 900, sinceMs: 1_000, untilMs: 9_000 }
const at = (position: number, wholeFrom = 0) => ({ position, wholeFrom, recordedMs: 5_000 })
const lost = { kind: 'lost', toMs: 9_000, isOfOthers: false }

const cases: [string, Parameters<typeof judgePosition>[0]['applied'], Partial<JournalPlace>, object][] = [
  ['all that was committed', at(1000), {}, { kind: 'whole' }],
  ['more than was committed, as after a kill', at(1010), {}, { kind: 'whole' }],
  ['sent again, and not yet all of it', at(1000, 2000), {}, { kind: 'filling' }],
  ['sent again', at(2000, 2000), {}, { kind: 'whole' }],
  ['an older copy, and the journal has the rest', at(950), {}, { kind: 'again', from: 950, isMissing: true }],
  ['the copy ends where the journal begins', at(900), {}, { kind: 'again', from: 900, isMissing: true }],
  ['an older copy, and the journal has not all', at(899), {}, { ...lost, fromMs: 5_000 }],
  ['empty, and the journal has all', undefined, { start: 0 }, { kind: 'again', from: 0, isMissing: true }],
  ['empty, and the journal has not all', undefined, {}, { ...lost, fromMs: 1_000 }],
  [
    'empty before anything was committed',
    undefined,
    { committed: 0, start: 0 },
    { kind: 'again', from: 0, isMissing: false },
  ],
]
for (const [name, applied, own, wanted] of cases) {
  t.strictSame(judgePosition({ applied, isOfOthers: false }, { ...place, ...own }), wanted, name)
}

const others = judgePosition({ applied: undefined, isOfOthers: true }, { ...place, start: 0 })
t.strictSame(others, { ...lost, fromMs: 1_000, isOfOthers: true }, 'nothing is sent to the QuestDB of another service')

t.equal(verdictText('points', { kind: 'whole' }), undefined)
t.equal(verdictText('points', { kind: 'again', from: 0, isMissing: false }), undefined)
t.equal(
  verdictText('readings', { kind: 'lost', fromMs: 0, toMs: 86_400_999, isOfOthers: false }),
  'QuestDB is empty or an older copy: it lacks readings that were received from 1970-01-01T00:00:00Z to 1970-01-02T00:00:00Z. ' +
    'Readings wait in the journal: put its files back, or set QUESTDB_ACCEPT_LOSS=1970-01-02T00:00:00Z to go on without them',
)

const loss = { kind: 'lost', fromMs: 0, toMs: 86_400_999, isOfOthers: false } as const
t.ok(isAccepted(loss, 86_400_000), 'the time that the text names')
t.notOk(isAccepted(loss, 86_399_000), 'an earlier loss')
t.notOk(isAccepted(loss, undefined))
