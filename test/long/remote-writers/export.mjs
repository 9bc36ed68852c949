/** Exports metrics by OpenTelemetry's own exporters, to the address of its settings, and prints their warnings. */

import { DiagConsoleLogger, DiagLogLevel, diag } from '@opentelemetry/api'
import { OTLPMetricExporter as JsonExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'

diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.WARN)
const exporters = [
  [new JsonExporter({}), 'json'],
  [new ProtobufExporter({}), 'protobuf'],
  [new ProtobufExporter({ compression: 'gzip' }), 'gzip'],
]
for (const [exporter, name] of exporters) {
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const provider = new MeterProvider({ readers: [reader] })
  const meter = provider.getMeter('test')
  const gauge = meter.createObservableGauge('temperature', { unit: '[degF]' })
  gauge.addCallback(result => result.observe(50))
  meter.createCounter(`gate.${name}`).add(3)
  await provider.shutdown()
}
