package dev.idempotent.saga.method;

import java.lang.reflect.Array;
import java.util.function.Supplier;

import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.advice.AnnotatedMethodAdvisor;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.Sagas;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.util.function.SingletonSupplier;

/**
 * Runs {@code @Saga} methods as sagas. In a call of {@link Sagas#start}, their calls are
 * captured instead.
 */
public final class SagaMethodAdvisor extends AnnotatedMethodAdvisor<SagaMethod> {

	private final Supplier<SagaMethods> methods;

	private final Supplier<SagaCalls> calls;

	/**
	 * Creates an advisor.
	 * @param methods supplies the sagas of the application, when the first annotation is
	 * read
	 * @param calls supplies what runs the calls, at the first call
	 */
	public SagaMethodAdvisor(Supplier<SagaMethods> methods, Supplier<SagaCalls> calls) {
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
		return SagaCalls.capture(call) ? nothing(invocation.getMethod().getReturnType()) : this.calls.get().run(call);
	}

	/**
	 * Returns what a method of this type returns if it does not run.
	 */
	private static @Nullable Object nothing(Class<?> type) {
		return (type.isPrimitive() && type != void.class) ? Array.get(Array.newInstance(type, 1), 0) : null;
	}

}
