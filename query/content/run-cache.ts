/**
 * The JSON texts of runs and their resources that a file's object contains. Thousands of files share them, and their
 * lists would be most of the work of reading a page (10 ms of PostgreSQL for 100 files), so they are cached.
 */

import { LRUCache } from 'lru-cache'
import type pg from 'pg'

/** Each text is a part of a JSON object: fields without the braces around them. */
export interface Run {
  id: number
  runText: string
  resourceText: string
  offeringText: string
}

export interface RunCache {
  get(runIds: Iterable<number>): Promise<ReadonlyMap<number, Run>>
}

const bytesMax = 32 * 1024 * 1024

const runsSql = `
  SELECT run.id::float8 AS run_id, run.title AS run_title, run.slug AS run_slug, run.semester, run.year,
    run.readable_id AS run_readable_id, resource.id::text AS resource_id, resource.readable_id AS resource_readable_id,
    resource.course_numbers AS course_number,
    array_to_json(ARRAY(
      SELECT row_to_json(shown) FROM (
        SELECT department_id, name, channel_url,
          (SELECT row_to_json(school) FROM content_schools school WHERE school.id = department.school_id) AS school
        FROM unnest(resource.department_ids) WITH ORDINALITY AS listed (department_id, place)
          JOIN content_departments department USING (department_id)
        ORDER BY place
      ) shown
    )) AS departments,
    array_to_json(ARRAY(
      SELECT row_to_json(topic) FROM unnest(resource.topic_ids) WITH ORDINALITY AS listed (id, place)
        JOIN content_topics topic USING (id)
      ORDER BY place
    )) AS topics,
    row_to_json(offering) AS offered_by, row_to_json(origin) AS platform
  FROM content_runs run JOIN content_resources resource ON resource.id = run.resource_id
    JOIN content_units offering ON offering.code = resource.offered_by
    JOIN content_platforms origin ON origin.code = resource.platform
  WHERE run.id = ANY ($1::bigint[])`

interface RunRow {
  run_id: number
  run_title: string
  run_slug: string | null
  departments: object[]
  semester: string | null
  year: number | null
  topics: object[]
  resource_id: string
  resource_readable_id: string
  course_number: string[]
  offered_by: object
  platform: object
  run_readable_id: string
}

/** Fields have the order of the interface. */
function toRun(row: RunRow): Run {
  const { run_id, run_title, run_slug, departments, semester, year, topics } = row
  const { resource_id, resource_readable_id, course_number, offered_by, platform, run_readable_id } = row
  return {
    id: run_id,
    runText: fieldsText({ run_id, run_title, run_slug, departments, semester, year, topics }),
    resourceText: fieldsText({ resource_id, resource_readable_id, course_number }),
    offeringText: fieldsText({ offered_by, platform, run_readable_id }),
  }
}

function fieldsText(fields: object): string {
  return JSON.stringify(fields).slice(1, -1)
}

/** A character takes two bytes at most. Each text has some overhead. */
function bytesOf({ runText, resourceText, offeringText }: Run): number {
  return 4 * (runText.length + resourceText.length + offeringText.length)
}

/** The cache is for one version of the data. */
export function createRunCache(pool: pg.Pool): RunCache {
  const kept = new LRUCache<number, Run>({ maxSize: bytesMax, sizeCalculation: bytesOf })
  return {
    async get(runIds) {
      const runs = new Map<number, Run>()
      const missing = new Set<number>()
      for (const id of runIds) {
        const run = kept.get(id)
        if (run === undefined) missing.add(id)
        else runs.set(id, run)
      }
      if (missing.size === 0) return runs
      const { rows } = await pool.query<RunRow>(runsSql, [[...missing]])
      for (const run of rows.map(toRun)) {
        runs.set(run.id, run)
        kept.set(run.id, run)
      }
      return runs
    },
  }
}
