package dev.idempotent.idempotency.method;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.operation.OperationTerms;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The annotated methods of an application that are no web handlers. Reads each when it is
 * needed first, so that it can be made before anything else.
 */
public final class IdempotentMethods {

	private final Supplier<OperationTerms> defaults;

	private final Supplier<MethodSettings> environment;

	private final Supplier<IdempotentExecutor> runs;

	private final BiPredicate<Class<?>, Method> others;

	private final Map<Target, Optional<Guarantee>> guarantees = new ConcurrentHashMap<>();

	private final Map<Target, MethodOperation> operations = new ConcurrentHashMap<>();

	/**
	 * Creates the methods.
	 * @param defaults what holds where an annotation leaves it open
	 * @param environment what runs need; asked for at the first run
	 * @param others which annotated methods of a class are left to somebody else
	 */
	public IdempotentMethods(Supplier<OperationTerms> defaults, Supplier<MethodSettings> environment,
			BiPredicate<Class<?>, Method> others) {
		this.defaults = SingletonSupplier.of(defaults);
		this.environment = SingletonSupplier.of(environment);
		this.runs = SingletonSupplier
			.of(() -> new IdempotentExecutor(this.environment.get().guard(), this.environment.get().waitTimeout()));
		this.others = others;
	}

	/**
	 * Tells what is promised for a method.
	 * @return the guarantee, or {@code null} if the method is none of these
	 */
	@Nullable Guarantee guaranteeOf(Method method, Class<?> type) {
		Target target = Target.of(type, method);
		Optional<Guarantee> known = this.guarantees.get(target);
		if (known == null) {
			// Reading one may create beans, whose methods are then asked for here.
			known = readGuarantee(target);
			this.guarantees.put(target, known);
		}
		return known.orElse(null);
	}

	/**
	 * Runs a call, or replays its result.
	 */
	@Nullable Object invoke(Class<?> type, Method method, @Nullable Object[] arguments, Work work) throws Throwable {
		MethodOperation operation = operationOf(type, method);
		return this.runs.get()
			.run(operation.operation(), operation.keyOf(arguments, this.environment.get().namespace()),
					operation.fingerprintOf(arguments, this.environment.get()), work);
	}

	/**
	 * Reads an annotation with all that it asks for.
	 * @throws dev.idempotent.IdempotentConfigurationException if that cannot be
	 */
	MethodOperation operationOf(Class<?> type, Method method) {
		Target target = Target.of(type, method);
		MethodOperation known = this.operations.get(target);
		if (known == null) {
			known = MethodOperation.of(target.type(), target.method(), target.requireAnnotation(),
					this.environment.get());
			this.operations.put(target, known);
		}
		return known;
	}

	private Optional<Guarantee> readGuarantee(Target target) {
		Idempotent annotation = target.annotation();
		if (annotation == null || this.others.test(target.type(), target.method())) {
			return Optional.empty();
		}
		return Optional.of((annotation.guarantee() != Guarantee.DEFAULT) ? annotation.guarantee()
				: this.defaults.get().guarantee());
	}

	private record Target(Class<?> type, Method method) {

		static Target of(Class<?> type, Method method) {
			return new Target(type, AopUtils.getMostSpecificMethod(method, type));
		}

		@Nullable Idempotent annotation() {
			return AnnotatedElementUtils.findMergedAnnotation(this.method, Idempotent.class);
		}

		Idempotent requireAnnotation() {
			Idempotent annotation = annotation();
			if (annotation == null) {
				throw new IllegalStateException(this.method + " is not annotated");
			}
			return annotation;
		}

	}

}
