package dev.idempotent.saga.method;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.method.MethodArguments;
import dev.idempotent.idempotency.method.ResultCodec;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.run.SagaDefinition;
import org.jspecify.annotations.Nullable;
import org.springframework.core.GenericTypeResolver;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.json.JsonMapper;

/**
 * A {@code @Saga} method.
 */
final class SagaMethod implements SagaDefinition {

	/**
	 * The fingerprint of a saga that has the key of a run: it contradicts none, so the
	 * arguments of the first call count.
	 */
	private static final Fingerprint ANY = new Fingerprint(0, "0".repeat(64));

	private final AnnotatedMethod method;

	private final String name;

	private final Duration timeout;

	private final SagaKey key;

	private final MethodArguments arguments;

	private final JsonArguments stored;

	private final ResultCodec results;

	private final AdvisedBody body;

	private final JsonMapper json;

	/**
	 * Creates a saga.
	 * @param method the method
	 * @param annotation its annotation
	 * @param settings the settings of all sagas
	 * @param body runs the method
	 * @throws dev.idempotent.IdempotentConfigurationException if the annotation is
	 * invalid
	 */
	SagaMethod(AnnotatedMethod method, Saga annotation, SagaMethodSettings settings, AdvisedBody body) {
		SagaAttributes attributes = SagaAttributes.of(method, annotation, settings);
		List<String> names = method.parameterNames();
		this.method = method;
		this.name = attributes.name();
		this.timeout = attributes.timeout();
		this.key = SagaKey.of(method, annotation.key(), names, this.name, settings.namespace());
		this.arguments = new MethodArguments(names, new String[0]);
		this.stored = JsonArguments.of(method, names, settings.json());
		this.results = new ResultCodec(settings.json(), resultType(method, settings.json()), method.describe());
		this.body = body;
		this.json = settings.json();
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public Duration timeout() {
		return this.timeout;
	}

	@Override
	public @Nullable Object run(byte[] stored) throws Throwable {
		@Nullable Object[] values = this.stored.read(stored);
		return DetachedThread.run(() -> this.body.run(values));
	}

	@Override
	public byte[] writeResult(@Nullable Object result) {
		return this.results.encode(result).bytes();
	}

	@Override
	public @Nullable Object readResult(byte[] stored) {
		return this.results.decode(StoredResponse.of(stored));
	}

	/**
	 * Describes a call.
	 * @throws IllegalArgumentException if its arguments yield no key or cannot be stored
	 * @throws IllegalStateException if it needs the key of an enclosing run, and there is
	 * none
	 */
	SagaInvocation callWith(@Nullable Object[] values) {
		IdempotencyContext run = this.key.run();
		Map<String, @Nullable Object> named = this.arguments.byName(values);
		byte[] written = this.stored.write(values);
		return new SagaInvocation(this, this.method.describe(), this.key.of(run, named),
				(run != null) ? ANY : this.arguments.fingerprint(values, this.json), written, run);
	}

	private static JavaType resultType(AnnotatedMethod method, JsonMapper json) {
		return json
			.constructType(GenericTypeResolver.resolveType(method.method().getGenericReturnType(), method.type()));
	}

}
