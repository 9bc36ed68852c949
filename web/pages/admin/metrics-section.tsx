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

const kinds: Record<MetricKind, { name: string; noun: string; sentence: string }> = {
  gauge: {
    name: t('Gauge'),
    noun: t('gauge'),
    sentence: t('A value that goes up and down, such as CO₂: means and extremes.'),
  },
  counter: {
    name: t('Counter'),
    noun: t('counter'),
    sentence: t('A running total that may start again from 0, such as energy: its increase, never a mean.'),
  },
  direction: {
    name: t('Direction'),
    noun: t('direction'),
    sentence: t('An angle, such as the direction of the wind: 350° and 10° have the mean 0°.'),
  },
  state: {
    name: t('State'),
    noun: t('state'),
    sentence: t('A small whole number, such as a door: the time in each state.'),
  },
  rate: {
    name: t('Rate'),
    noun: t('rate'),
    sentence: t('A quantity for an interval, such as the rain of five minutes: sums.'),
  },
}

type Units = MetricCatalogue['units']

export function MetricsSection() {
  const known = useResource<MetricCatalogue>(addressOf('/api/admin/metrics/catalogue'))
  const { metrics = [], units = [] } = known.kind === 'ready' ? known.value : {}
  return (
    <>
      <p class="soft">
        {t(
          'Five metrics are built in. A reading with a number in a field of a new name adds a metric, unless the service runs with METRICS=declared.',
        )}
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
      <h2>{t('Kinds')}</h2>
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
      label: t('Unit'),
      value: unit,
      hint: t('A UCUM code or the usual sign'),
      suggestions: units.map(({ code, sign }) => ({ value: code, text: sign })),
    },
    {
      name: 'kind',
      label: t('Kind'),
      kind: 'choice',
      value: kind,
      choices: Object.entries(kinds).map(([value, { name }]) => ({ value, text: name })),
    },
    { name: 'min', label: t('Smallest value'), kind: 'number', value: min, hint: t('Values below it are refused') },
    { name: 'max', label: t('Largest value'), kind: 'number', value: max, hint: t('Values above it are refused') },
  ]
  return [
    { name: 'title', label: t('Title'), value: title, isRequired: true },
    ...(metric.built_in ? [] : fixed),
    { name: 'decimals', label: t('Digits behind the point'), kind: 'number', value: decimals, isRequired: true },
    {
      name: 'color',
      label: t('Colour'),
      value: color,
      hint: t('As #1f77b4, for other programs: the pages do not use it'),
    },
    { name: 'position', label: t('Position in lists'), kind: 'number', value: position, isRequired: true },
  ]
}

function NewMetric({ actions, common }: { actions: Actions; common: MetricCatalogue['metrics'] }) {
  const fields: FormField[] = [
    {
      name: 'name',
      label: t('Name'),
      isRequired: true,
      hint: t('Lower-case letters, digits and "_". {count} common ones are set up by their names.', {
        count: countText(common.length),
      }),
      suggestions: common.map(({ name, title }) => ({ value: name, text: title })),
    },
    { name: 'unit', label: t('Unit'), hint: t('If empty, the usual unit for this name') },
  ]
  return (
    <AddForm
      title={t('Add a metric')}
      isStrong
      verb={t('Add')}
      fields={fields}
      isBusy={actions.isBusy}
      onSend={async ({ name, unit = null }) => {
        const body = unit === null ? { name } : { name, unit }
        return (
          (await actions.change('POST', '/metrics', body, t('{name} is added.', { name: String(name) }))) !== undefined
        )
      }}
    />
  )
}

function MetricRow({ metric, actions, units }: { metric: MetricDetails; actions: Actions; units: Units }) {
  const [isEditing, setEditing] = useState(false)
  const { name, title } = metric
  const path = `/metrics/${name}`
  const change = async (values: FormValues) =>
    (await actions.change('PATCH', path, values, t('{name} is changed.', { name }))) !== undefined
  return (
    <>
      <Row name={title} facts={factsOf(metric)}>
        <RowButton name={name} text={t('Edit')} onClick={() => setEditing(true)} />
        {metric.built_in ? null : (
          <ConfirmedButton
            title={t('Remove {name}?', { name })}
            text={t('Only a metric that no device has or lists can be removed.')}
            name={name}
            verb={t('Remove')}
            onConfirm={() => void actions.change('DELETE', path, undefined, t('{name} is removed.', { name }))}
          />
        )}
      </Row>
      {isEditing ? (
        <AddForm
          title={t('Edit {name}', { name })}
          verb={t('Save')}
          fields={fieldsOf(metric, units)}
          isBusy={actions.isBusy}
          isOpen={true}
          onSend={change}
          onClose={() => setEditing(false)}
        >
          <p class="soft">
            {metric.built_in
              ? t('For other programs: the pages have a fixed title and fixed digits for this metric.')
              : t('Stored values are not converted: they mean the new unit from then on.')}
          </p>
        </AddForm>
      ) : null}
    </>
  )
}

function factsOf({ name, unit_sign, kind, min, max, built_in }: MetricDetails): (string | undefined)[] {
  return [name, unit_sign ?? t('no unit'), kinds[kind].noun, rangeText(min, max), built_in ? t('built in') : undefined]
}

function rangeText(min: number | null, max: number | null): string | undefined {
  if (min === null && max === null) return undefined
  const [least, most] = [min, max].map(bound => (bound === null ? undefined : boundText(bound)))
  if (least === undefined) return t('up to {to}', { to: most ?? '' })
  return most === undefined ? t('from {from}', { from: least }) : t('{from} to {to}', { from: least, to: most })
}

/** Uses the minus sign. */
function boundText(bound: number): string {
  return `${bound < 0 ? '−' : ''}${countText(Math.abs(bound))}`
}
