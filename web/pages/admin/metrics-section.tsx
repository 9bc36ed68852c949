/** The registry of metrics: a search, additions by name or by the catalogue, changes and removal. */

import { useState } from 'preact/hooks'
import type { MetricCatalogue } from '../../../api/admin/answers.ts'
import type { MetricDetails, MetricPage } from '../../../auth/metrics/metric-list.ts'
import type { MetricKind } from '../../../store/metrics/metric.ts'
import { addressOf } from '../../client/address.ts'
import { useResource } from '../../client/use-resource.ts'
import { AddForm, type FormField, type FormValues } from '../../parts/add-form.tsx'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { ListSection } from '../../parts/list-section.tsx'
import { Definitions, Record as Row, RowButton } from '../../parts/record.tsx'
import type { Actions } from '../../parts/use-actions.tsx'
import { countText, t, tn } from '../../words/words.ts'

const kinds: Record<MetricKind, { name: string; sentence: string }> = {
  gauge: { name: 'Gauge', sentence: 'A value that goes up and down, such as CO₂: means and extremes.' },
  counter: {
    name: 'Counter',
    sentence: 'A running total that may start again from 0, such as energy: its increase, never a mean.',
  },
  direction: {
    name: 'Direction',
    sentence: 'An angle, such as the direction of the wind: 350° and 10° have the mean 0°.',
  },
  state: { name: 'State', sentence: 'A small whole number, such as a door: the time in each state.' },
  rate: { name: 'Rate', sentence: 'A quantity for an interval, such as the rain of five minutes: sums.' },
}

type Units = MetricCatalogue['units']

export function MetricsSection() {
  const known = useResource<MetricCatalogue>(addressOf('/api/admin/metrics/catalogue'))
  const { metrics = [], units = [] } = known.kind === 'ready' ? known.value : {}
  return (
    <>
      <p class="soft">
        Five metrics are built in. A reading with a number in a field of a new name adds a metric, unless the service
        runs with METRICS=declared.
      </p>
      <ListSection
        path="/metrics"
        noun={t('metrics')}
        counted={count => tn(count, '{count} metric.', '{count} metrics.')}
        hasSearch={true}
        pageArgument="after"
        itemsOf={(page: MetricPage) => page.metrics}
        keyOf={metric => metric.name}
        row={(metric, actions) => <MetricRow metric={metric} actions={actions} units={units} />}
      >
        {actions => <NewMetric actions={actions} common={metrics} />}
      </ListSection>
      <h2>Kinds</h2>
      <Definitions class="ways" entries={Object.values(kinds).map(({ name, sentence }) => [name, sentence] as const)} />
    </>
  )
}

/** Unit, kind and range of built-in metrics are fixed by the interface of readings. */
function fieldsOf(metric: MetricDetails, units: Units): FormField[] {
  const { title, unit, kind, decimals, min, max, color, position } = metric
  const fixed: FormField[] = [
    {
      name: 'unit',
      label: 'Unit',
      value: unit,
      hint: 'A UCUM code or the usual sign',
      suggestions: units.map(({ code, sign }) => ({ value: code, text: sign })),
    },
    {
      name: 'kind',
      label: 'Kind',
      kind: 'choice',
      value: kind,
      choices: Object.entries(kinds).map(([value, { name }]) => ({ value, text: name })),
    },
    { name: 'min', label: 'Smallest value', kind: 'number', value: min, hint: 'Values below it are refused' },
    { name: 'max', label: 'Largest value', kind: 'number', value: max, hint: 'Values above it are refused' },
  ]
  return [
    { name: 'title', label: 'Title', value: title, isRequired: true },
    ...(metric.built_in ? [] : fixed),
    { name: 'decimals', label: 'Digits behind the point', kind: 'number', value: decimals, isRequired: true },
    { name: 'color', label: 'Colour', value: color, hint: 'As #1f77b4, for other programs: the pages do not use it' },
    { name: 'position', label: 'Position in lists', kind: 'number', value: position, isRequired: true },
  ]
}

function NewMetric({ actions, common }: { actions: Actions; common: MetricCatalogue['metrics'] }) {
  const fields: FormField[] = [
    {
      name: 'name',
      label: 'Name',
      isRequired: true,
      hint: `Lower-case letters, digits and "_". ${countText(common.length)} common ones are set up by their names.`,
      suggestions: common.map(({ name, title }) => ({ value: name, text: title })),
    },
    { name: 'unit', label: 'Unit', hint: 'If empty, the usual unit for this name' },
  ]
  return (
    <AddForm
      title="Add a metric"
      isStrong
      verb="Add"
      fields={fields}
      isBusy={actions.isBusy}
      onSend={async ({ name, unit = null }) => {
        const body = unit === null ? { name } : { name, unit }
        return (await actions.change('POST', '/metrics', body, `${name} is added.`)) !== undefined
      }}
    />
  )
}

function MetricRow({ metric, actions, units }: { metric: MetricDetails; actions: Actions; units: Units }) {
  const [isEditing, setEditing] = useState(false)
  const { name, title } = metric
  const path = `/metrics/${name}`
  const change = async (values: FormValues) =>
    (await actions.change('PATCH', path, values, `${name} is changed.`)) !== undefined
  return (
    <>
      <Row name={title} facts={factsOf(metric)}>
        <RowButton name={name} text="Edit" onClick={() => setEditing(true)} />
        {metric.built_in ? null : (
          <ConfirmedButton
            title={`Remove ${name}?`}
            text="Only a metric that no device has or lists can be removed."
            name={name}
            verb="Remove"
            onConfirm={() => void actions.change('DELETE', path, undefined, `${name} is removed.`)}
          />
        )}
      </Row>
      {isEditing ? (
        <AddForm
          title={`Edit ${name}`}
          verb="Save"
          fields={fieldsOf(metric, units)}
          isBusy={actions.isBusy}
          isOpen={true}
          onSend={change}
          onClose={() => setEditing(false)}
        >
          <p class="soft">
            {metric.built_in
              ? 'For other programs: the pages have a fixed title and fixed digits for this metric.'
              : 'Stored values are not converted: they mean the new unit from then on.'}
          </p>
        </AddForm>
      ) : null}
    </>
  )
}

function factsOf({ name, unit_sign, kind, min, max, built_in }: MetricDetails): (string | undefined)[] {
  return [
    name,
    unit_sign ?? 'no unit',
    kinds[kind].name.toLowerCase(),
    rangeText(min, max),
    built_in ? 'built in' : undefined,
  ]
}

function rangeText(min: number | null, max: number | null): string | undefined {
  if (min === null && max === null) return undefined
  const [least, most] = [min, max].map(bound => (bound === null ? undefined : boundText(bound)))
  if (least === undefined) return `up to ${most}`
  return most === undefined ? `from ${least}` : `${least} to ${most}`
}

/** Uses the minus sign. */
function boundText(bound: number): string {
  return `${bound < 0 ? '−' : ''}${countText(Math.abs(bound))}`
}
