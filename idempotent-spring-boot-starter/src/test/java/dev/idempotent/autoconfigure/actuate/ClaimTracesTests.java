package dev.idempotent.autoconfigure.actuate;

import java.time.Instant;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.RunOrigin;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link ClaimTraces}.
 */
class ClaimTracesTests {

	private static final String SPAN_ID = "b7ad6b7169203331";

	@Test
	void readTheCurrentTrace() {
		assertThat(traceparent("0af7651916cd43dd8448eb211c80319c", true))
			.isEqualTo("00-0af7651916cd43dd8448eb211c80319c-" + SPAN_ID + "-01");
	}

	@Test
	void extendATraceIdOf64Bits() {
		String traceparent = traceparent("8448eb211c80319c", true);
		assertThat(traceparent).isEqualTo("00-00000000000000008448eb211c80319c-" + SPAN_ID + "-01");
		assertThat(new RunOrigin(Instant.now(), Guarantee.LEASE, traceparent).traceparent()).isEqualTo(traceparent);
	}

	@Test
	void knowWhetherTheTraceIsSampled() {
		assertThat(traceparent("0af7651916cd43dd8448eb211c80319c", false)).endsWith("-00");
		assertThat(traceparent("0af7651916cd43dd8448eb211c80319c", null)).endsWith("-00");
	}

	@Test
	void areAbsentWithoutASpan() {
		Tracer tracer = mock(Tracer.class, RETURNS_DEEP_STUBS);
		given(tracer.currentTraceContext().context()).willReturn(null);
		assertThat(new ClaimTraces(tracer).traceparent()).isNull();
	}

	@Test
	void areLeftOutIfTheTracerDoesNothing() {
		String traceparent = new ClaimTraces(Tracer.NOOP).traceparent();
		assertThat(new RunOrigin(Instant.now(), Guarantee.LEASE, traceparent).traceparent()).isNull();
	}

	private static @Nullable String traceparent(String traceId, @Nullable Boolean sampled) {
		TraceContext context = mock(TraceContext.class);
		given(context.traceId()).willReturn(traceId);
		given(context.spanId()).willReturn(SPAN_ID);
		given(context.sampled()).willReturn(sampled);
		Tracer tracer = mock(Tracer.class, RETURNS_DEEP_STUBS);
		given(tracer.currentTraceContext().context()).willReturn(context);
		return new ClaimTraces(tracer).traceparent();
	}

}
