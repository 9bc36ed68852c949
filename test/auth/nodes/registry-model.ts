/** Model: after any change at any node, the memory of each node equals a fresh load. Each change has a row in the feed. */

import type pg from 'pg'
import type { Test } from 'tap'
import type { Store } from '../../../store/store.ts'
import { createRandom } from '../../faults/seeded-random.ts'
import { nowhere, startDatabases } from '../../support/databases.ts'
import { openNode, openRegistries, stateOf, type TestNode } from '../../support/registries.ts'
import { emptyWorld, registryChanges, type World } from './registry-changes.ts'

/** Each table has columns without an effect on memory, or updated by other means. */
const decisive: Readonly<Record<string, readonly string[]>> = {
  devices: ['last_seen', 'next_used'],
  metrics: [],
  metric_series: [],
  accounts: ['password_hash', 'updated_at'],
  sessions: [],
  api_keys: ['last_used_at'],
  tenants: ['secret', 'previous_secret', 'previous_ends_at', 'updated_at', 'name'],
  stations: ['last_data_at'],
  retention: [],
}

async function guardFeed(pool: pg.Pool): Promise<void> {
  await pool.query(`
    CREATE FUNCTION require_feed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' AND to_jsonb(OLD) - TG_ARGV = to_jsonb(NEW) - TG_ARGV THEN RETURN NULL; END IF;
      IF NOT EXISTS (SELECT FROM feed WHERE xmin = pg_current_xact_id()::xid) THEN
        RAISE EXCEPTION 'a change (%) of % has no row in the feed', TG_OP, TG_TABLE_NAME;
      END IF;
      RETURN NULL;
    END $$`)
  for (const [table, others] of Object.entries(decisive)) {
    const ignored = others.map(name => `'${name}'`).join(', ')
    // New accounts are in no node's memory.
    const events = table === 'accounts' || table === 'tenants' ? 'UPDATE OR DELETE' : 'INSERT OR UPDATE OR DELETE'
    await pool.query(`CREATE CONSTRAINT TRIGGER require_feed AFTER ${events} ON ${table}
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION require_feed(${ignored})`)
  }
}

export const kindsOfChanges = Object.keys(registryChanges)

export async function startGuarded(t: Test): Promise<Store> {
  const { store } = await startDatabases(t, nowhere)
  await guardFeed(store.postgres)
  return store
}

/** Fails if a node differs from a fresh load. */
async function compare(t: Test, store: Store, nodes: readonly TestNode[], world: World, after: string): Promise<void> {
  // Creations by a first reading are answered before the feed is applied.
  for (const { nodes: one } of nodes) await one.feed.settle()
  const fresh = await openRegistries(store.postgres)
  const wanted = await stateOf(fresh, world)
  for (const [place, one] of nodes.entries()) {
    t.strictSame(await stateOf(one, world), wanted, `node ${place} after ${after}`)
  }
  await fresh.close()
}

/** Consecutive changes, each at one of two nodes. */
export async function changeInTurn(t: Test, store: Store, seed: number, changes: number): Promise<void> {
  const nodes = [await openNode(t, store), await openNode(t, store)]
  const world = emptyWorld()
  const { below: draw } = createRandom(seed)
  // Every kind occurs at least once, prerequisites first.
  const first = Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? 'add an account' : 'add a device'))
  const planned = [...first, ...kindsOfChanges]
  for (let at = 0; at < changes; at++) {
    const name = planned[at] ?? kindsOfChanges[draw(kindsOfChanges.length)] ?? ''
    const node = nodes[draw(nodes.length)]
    if (node === undefined) throw new Error('there are nodes')
    await registryChanges[name]?.(node, world, draw)
    await compare(t, store, nodes, world, `change ${at}: ${name}`)
  }
  t.strictSame(
    nodes.flatMap(({ fatal }) => fatal),
    [],
  )
}

/** Several concurrent changes at each of three nodes. */
export async function changeAtOnce(t: Test, store: Store, seed: number, rounds: number): Promise<void> {
  const nodes = [await openNode(t, store), await openNode(t, store), await openNode(t, store)]
  const world = emptyWorld()
  const { below: draw } = createRandom(seed)
  const [first] = nodes
  for (const name of ['add an account', 'add an account', 'add a device', 'add a device', 'add a station']) {
    if (first !== undefined) await registryChanges[name]?.(first, world, draw)
  }
  for (let round = 0; round < rounds; round++) {
    const works = nodes.flatMap(node =>
      Array.from({ length: 6 }, () => {
        return registryChanges[kindsOfChanges[draw(kindsOfChanges.length)] ?? '']?.(node, world, draw)
      }),
    )
    for (const done of await Promise.allSettled(works)) {
      if (done.status === 'rejected') throw done.reason
    }
    await compare(t, store, nodes, world, `round ${round}`)
  }
}
