package dev.idempotent.saga.method;

import java.lang.reflect.Array;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.aop.AnnotatedMethodAdvisor;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.SignalResult;
import dev.idempotent.saga.engine.SagaEngine;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.util.function.SingletonSupplier;

/**
 * Runs the calls of saga methods, or captures one and starts it in the background.
 */
public final class SagaCalls implements Sagas {

	/**
	 * The calls that the action of {@link #start} has made on this thread.
	 */
	private static final ThreadLocal<@Nullable List<SagaInvocation>> captured = new ThreadLocal<>();

	private final SagaEngine engine;

	private final SagaMethods methods;

	/**
	 * The sagas that have returned a result to a run whose key they have.
	 */
	private final Map<IdempotencyContext, Set<String>> answered = Collections.synchronizedMap(new WeakHashMap<>());

	/**
	 * Creates the calls of an engine.
	 * @param engine runs sagas
	 * @param methods the sagas of the application
	 */
	public SagaCalls(SagaEngine engine, SagaMethods methods) {
		this.engine = engine;
		this.methods = methods;
	}

	/**
	 * Creates the advisor of {@code @Saga} methods, before there is an engine.
	 * @param methods supplies the sagas of the application, when the first annotation is
	 * read
	 * @param calls supplies what runs the calls, at the first call
	 * @return the advisor
	 */
	public static AnnotatedMethodAdvisor<?> advisor(Supplier<SagaMethods> methods, Supplier<SagaCalls> calls) {
		return new MethodAdvisor(methods, calls);
	}

	@Override
	public IdempotencyKey start(Runnable call) {
		SagaInvocation one = captureOne(call);
		requireFirst(one);
		IdempotencyKey id = this.engine.start(one.saga(), one.id(), one.fingerprint(), one.arguments());
		answered(one);
		return id;
	}

	@Override
	public Optional<SagaSnapshot> find(IdempotencyKey id) {
		return this.engine.find(id);
	}

	@Override
	public SignalResult signal(IdempotencyKey id, String name, @Nullable Object value) {
		return this.engine.signal(id, name, this.methods.contentOf(name, value),
				this.methods.fingerprintOf(name, value));
	}

	/**
	 * Sends a signal whose value an operator has written as JSON. It differs from each
	 * one that the application sends.
	 * @param id the id of the saga
	 * @param name the name of the signal
	 * @param json its value, or {@code null} for none
	 * @return what has become of it
	 * @throws IllegalArgumentException if the name is invalid, or the value is not JSON
	 */
	public SignalResult signalJson(IdempotencyKey id, String name, @Nullable String json) {
		byte[] value = Objects.requireNonNullElse(json, "null").getBytes(StandardCharsets.UTF_8);
		return this.engine.signal(id, name, this.methods.contentOfJson(value), Fingerprint.of(List.of(value)));
	}

	@Override
	public Optional<SagaStatus> cancel(IdempotencyKey id, String reason) {
		return this.engine.cancel(id, reason);
	}

	@Override
	public IdempotencyKey idOf(String saga, Object key) {
		return this.methods.keys().idOf(saga, key);
	}

	private @Nullable Object run(SagaInvocation call) throws Throwable {
		requireFirst(call);
		requireLastingKey(call);
		Object result = this.engine.call(call.saga(), call.id(), call.fingerprint(), call.arguments());
		answered(call);
		return result;
	}

	/**
	 * A call that is repeated while the saga is open must find that saga. A saga that is
	 * started needs no repeated call.
	 */
	private static void requireLastingKey(SagaInvocation call) {
		Duration same = (call.run() != null) ? call.run().rootRetention() : null;
		Duration timeout = call.saga().timeout();
		if (same != null && timeout.compareTo(same) > 0) {
			throw new IllegalStateException("The saga " + call.described()
					+ " has no key of its own, and is called in a " + "run whose key is a fingerprint. It may take "
					+ timeout + ", and equal requests have the same saga " + "for " + same
					+ ": a later one would begin another saga while the first is open. Set the argument "
					+ "that is the key, such as key = \"#command.id\", start the saga with Sagas.start, or give it a "
					+ "timeout that is not longer");
		}
	}

	/**
	 * Captures a call if the action of {@link #start} makes it.
	 * @return {@code false} if it must be run
	 */
	private static boolean capture(SagaInvocation call) {
		List<SagaInvocation> calls = captured.get();
		return calls != null && calls.add(call);
	}

	private static SagaInvocation captureOne(Runnable action) {
		if (captured.get() != null) {
			throw new IllegalStateException("Sagas.start is called within the call of another Sagas.start");
		}
		List<SagaInvocation> calls = new ArrayList<>();
		captured.set(calls);
		try {
			action.run();
		}
		finally {
			captured.remove();
		}
		if (calls.size() != 1) {
			throw new IllegalStateException("Sagas.start needs a call of exactly one @Saga method of another bean, "
					+ "such as () -> checkout.place(command), but it made " + calls.size());
		}
		return calls.get(0);
	}

	/**
	 * Requires that this saga has not returned a result to the run whose key it has: a
	 * second call would get that result. A saga that has failed can be called again.
	 */
	private void requireFirst(SagaInvocation call) {
		if (call.run() != null && answeredIn(call.run()).contains(call.saga().name())) {
			throw new IllegalStateException("The saga " + call.described()
					+ " is called twice in one @Idempotent run, so both would have its key. Set the argument that "
					+ "distinguishes them, such as key = \"#command.id\"");
		}
	}

	private void answered(SagaInvocation call) {
		if (call.run() != null) {
			answeredIn(call.run()).add(call.saga().name());
		}
	}

	private Set<String> answeredIn(IdempotencyContext run) {
		return this.answered.computeIfAbsent(run, (unused) -> ConcurrentHashMap.newKeySet());
	}

	/**
	 * Runs {@code @Saga} methods as sagas, or captures their calls.
	 */
	private static final class MethodAdvisor extends AnnotatedMethodAdvisor<SagaMethod> {

		private final Supplier<SagaMethods> methods;

		private final Supplier<SagaCalls> calls;

		MethodAdvisor(Supplier<SagaMethods> methods, Supplier<SagaCalls> calls) {
			super(Saga.class, null);
			this.methods = SingletonSupplier.of(methods);
			this.calls = SingletonSupplier.of(calls);
		}

		@Override
		protected SagaMethod read(AnnotatedMethod method) {
			return this.methods.get().read(method, this);
		}

		@Override
		protected @Nullable Object invoke(SagaMethod saga, MethodInvocation invocation) throws Throwable {
			SagaInvocation call = saga.callWith(invocation.getArguments());
			return capture(call) ? nothing(invocation.getMethod().getReturnType()) : this.calls.get().run(call);
		}

		/**
		 * Returns what a method of this type returns if it does not run.
		 */
		private static @Nullable Object nothing(Class<?> type) {
			return (type.isPrimitive() && type != void.class) ? Array.get(Array.newInstance(type, 1), 0) : null;
		}

	}

}
