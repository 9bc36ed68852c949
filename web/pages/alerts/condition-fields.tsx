/** The fields of a rule for its condition. They depend on the kind of the condition. */

import { factNames } from '../../../alerts/core/condition-text.ts'
import { useIsOperator } from '../../client/session.ts'
import { ChoiceField, DurationField, NumberField } from '../../parts/fields.tsx'
import { t, words } from '../../words/words.ts'
import { conditionNames } from './alert-words.ts'
import type { BatteryMetric, ConditionKind, Direction, RuleForm } from './rule-form.ts'
import type { KnownFleet } from './use-fleet.ts'

export function ConditionFields(props: ConditionFieldsProps) {
  const { form, onChange } = props
  const isOperator = useIsOperator()
  const isOfHours = form.kind === 'completeness' || form.kind === 'suspect'
  return (
    <>
      <ChoiceField
        label={t('When')}
        value={form.kind}
        names={offeredFor(form.kind, isOperator)}
        onChange={(kind: ConditionKind) => onChange({ kind, ...usualFor(kind, form.metric) })}
      />
      <KindFields {...props} />
      <DurationField
        label={t('Fires after')}
        hint={isOfHours ? t('Counted between the ends of hours.') : t('The condition must hold this long.')}
        seconds={form.forSeconds}
        onChange={forSeconds => onChange({ forSeconds })}
      />
      <DurationField
        label={t('Resolves after')}
        hint={t('The condition must be over this long.')}
        seconds={form.keepSeconds}
        onChange={keepSeconds => onChange({ keepSeconds })}
      />
    </>
  )
}

/** The API refuses rules of the service to all but the operator. The kind of a rule that is there can be read. */
function offeredFor(kind: ConditionKind, isOperator: boolean): Partial<Record<ConditionKind, string>> {
  const isOffered = (name: string) => name === kind || name !== 'service' || isOperator
  return Object.fromEntries(Object.entries(conditionNames).filter(([name]) => isOffered(name)))
}

/** Defaults of a kind. The share is in percent. */
function usualFor(kind: ConditionKind, metric: string): Partial<RuleForm> {
  if (kind === 'completeness') return { share: '90' }
  if (kind === 'suspect') return { share: '10', metric: '' }
  return { share: '50', metric: metric === '' ? 'temperature' : metric }
}

interface ConditionFieldsProps {
  form: RuleForm
  fleet: KnownFleet
  onChange: (change: Partial<RuleForm>) => void
}

function KindFields(props: ConditionFieldsProps) {
  const { form, onChange } = props
  switch (form.kind) {
    case 'silent':
      return <AfterFields {...props} />
    case 'above':
    case 'below':
      return (
        <>
          <MetricField {...props} />
          <LimitFields {...props} metric={form.metric} label={t('Limit')} />
        </>
      )
    case 'change':
      return <ChangeFields {...props} />
    case 'battery':
      return <BatteryFields {...props} />
    case 'completeness':
      return <ShareField label={t('Share of readings below')} {...props} />
    case 'suspect':
      return (
        <>
          <ShareField
            label={t('Share of readings above')}
            hint={t('Counts the readings of an hour. One reading in a flat line is enough.')}
            {...props}
          />
          <MetricField {...props} all={t('all that are built in')} />
        </>
      )
    case 'unusual':
      return <MetricField {...props} />
    case 'site_silent':
      return (
        <>
          <ShareField label={t('Share of devices above')} {...props} />
          <NumberField label={t('Minimum devices')} value={form.count} min={1} onInput={count => onChange({ count })} />
          <AfterFields {...props} />
        </>
      )
    case 'service':
      return <ServiceFields {...props} />
  }
}

function AfterFields({ form: { afterSeconds }, onChange }: ConditionFieldsProps) {
  const isOwn = afterSeconds !== undefined
  return (
    <>
      <ChoiceField
        label={t('Silent for')}
        value={isOwn ? 'own' : 'usual'}
        names={{ usual: t('longer than it usually is'), own: t('a time of my own') }}
        onChange={choice => onChange({ afterSeconds: choice === 'own' ? 3600 : undefined })}
      />
      {isOwn ? (
        <DurationField
          label={t('Time')}
          seconds={afterSeconds}
          onChange={seconds => onChange({ afterSeconds: seconds })}
        />
      ) : null}
    </>
  )
}

function MetricField({ form, fleet, onChange, all }: ConditionFieldsProps & { all?: string }) {
  // The rule's metric may exist on other devices only.
  const offered = [...new Set([...fleet.metrics, form.metric])].filter(name => name !== '')
  const names: Record<string, string> = all === undefined ? {} : { '': all }
  for (const name of offered) names[name] = fleet.quantities.of(name).name
  return <ChoiceField label={t('Metric')} value={form.metric} names={names} onChange={metric => onChange({ metric })} />
}

interface LimitFieldsProps extends ConditionFieldsProps {
  metric: string
  label: string
}

function LimitFields({ form, fleet, onChange, metric, label }: LimitFieldsProps) {
  const { unit } = fleet.quantities.of(metric)
  return (
    <>
      <NumberField {...{ label, unit }} isRequired value={form.value} onInput={value => onChange({ value })} />
      <NumberField
        label={t('Hysteresis')}
        hint={t('Resolves this far back.')}
        unit={unit}
        min={0}
        value={form.hysteresis}
        onInput={hysteresis => onChange({ hysteresis })}
      />
    </>
  )
}

const directions: Record<Direction, string> = {
  changes: t('rises or falls'),
  rises: t('rises'),
  falls: t('falls'),
}

function ChangeFields(props: ConditionFieldsProps) {
  const { form, onChange } = props
  return (
    <>
      <MetricField {...props} />
      <ChoiceField
        label={t('Direction')}
        value={form.direction}
        names={directions}
        onChange={(direction: Direction) => onChange({ direction })}
      />
      <LimitFields {...props} metric={form.metric} label={t('Change above')} />
      <DurationField
        label={t('Within')}
        seconds={form.windowSeconds}
        onChange={windowSeconds => onChange({ windowSeconds })}
      />
    </>
  )
}

const batteryNames: Record<BatteryMetric, string> = {
  battery_percentage: t('Its charge is below a limit'),
  battery_voltage: t('Its voltage is below a limit'),
  days: t('It is going to be empty soon'),
}

function BatteryFields(props: ConditionFieldsProps) {
  const { form, onChange } = props
  return (
    <>
      <ChoiceField
        label={t('Battery')}
        value={form.battery}
        names={batteryNames}
        onChange={(battery: BatteryMetric) => onChange({ battery })}
      />
      {form.battery === 'days' ? (
        <NumberField
          label={t('Within')}
          unit={t('days')}
          min={1}
          max={365}
          isRequired
          value={form.days}
          onInput={days => onChange({ days })}
        />
      ) : (
        <LimitFields {...props} metric={form.battery} label={t('Limit')} />
      )}
    </>
  )
}

function ServiceFields(props: ConditionFieldsProps) {
  const { form, onChange } = props
  return (
    <>
      <ChoiceField
        label={t('Problem')}
        value={form.fact}
        names={factNames(words)}
        onChange={fact => onChange({ fact })}
      />
      {form.fact === 'disk_full' ? (
        <NumberField
          label={t('Days until full')}
          unit={t('days')}
          min={0}
          max={365}
          value={form.days}
          onInput={days => onChange({ days })}
        />
      ) : null}
      {form.fact === 'journal_full' ? <ShareField label={t('Share of the journal above')} {...props} /> : null}
    </>
  )
}

function ShareField({ label, hint, form, onChange }: ConditionFieldsProps & { label: string; hint?: string }) {
  return (
    <NumberField
      label={label}
      hint={hint}
      unit="%"
      min={0}
      max={100}
      isRequired
      value={form.share}
      onInput={share => onChange({ share })}
    />
  )
}
