package dev.idempotent.testing;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import org.jspecify.annotations.Nullable;

import static org.awaitility.Awaitility.await;

/**
 * Records the spans that end.
 */
public final class RecordedSpans implements SpanExporter {

	private final List<SpanData> spans = new CopyOnWriteArrayList<>();

	@Override
	public CompletableResultCode export(Collection<SpanData> ended) {
		this.spans.addAll(ended);
		return CompletableResultCode.ofSuccess();
	}

	@Override
	public CompletableResultCode flush() {
		return CompletableResultCode.ofSuccess();
	}

	@Override
	public CompletableResultCode shutdown() {
		return CompletableResultCode.ofSuccess();
	}

	/**
	 * All spans that have ended.
	 */
	public List<SpanData> all() {
		return this.spans;
	}

	/**
	 * The span of the request in a trace, which ends after its response was received.
	 */
	public SpanData ofRequest(String traceId) {
		await().until(() -> this.spans.stream().anyMatch((span) -> isOfRequest(span, traceId)));
		return this.spans.stream().filter((span) -> isOfRequest(span, traceId)).findFirst().orElseThrow();
	}

	/**
	 * The spans of a trace with this name.
	 */
	public List<SpanData> named(String name, String traceId) {
		return this.spans.stream()
			.filter((span) -> span.getName().equals(name) && span.getTraceId().equals(traceId))
			.toList();
	}

	public static @Nullable String attribute(SpanData span, String name) {
		return span.getAttributes().get(AttributeKey.stringKey(name));
	}

	private static boolean isOfRequest(SpanData span, String traceId) {
		return span.getTraceId().equals(traceId) && span.getKind() == SpanKind.SERVER;
	}

}
