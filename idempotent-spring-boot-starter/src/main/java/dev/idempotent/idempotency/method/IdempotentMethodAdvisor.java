package dev.idempotent.idempotency.method;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BiPredicate;
import java.util.function.Supplier;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.advice.AnnotatedMethodAdvisor;
import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.operation.OperationSettings;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Runs {@code @Idempotent} methods of one guarantee once per key. The guarantee
 * determines the position of the advice.
 */
public final class IdempotentMethodAdvisor extends AnnotatedMethodAdvisor<IdempotentMethod> {

	private final Guarantee guarantee;

	private final Supplier<OperationSettings> defaults;

	private final Supplier<MethodSettings> settings;

	private final Supplier<IdempotentExecutor> executor;

	private final BiPredicate<Class<?>, Method> handlers;

	/**
	 * Creates an advisor.
	 * @param guarantee the guarantee of the methods to advise, never the default
	 * @param defaults supplies the guarantee of annotations that do not specify one
	 * @param settings supplies the settings of all runs, when the first annotation is
	 * read
	 * @param handlers the web handlers, which are not advised
	 */
	public IdempotentMethodAdvisor(Guarantee guarantee, Supplier<OperationSettings> defaults,
			Supplier<MethodSettings> settings, BiPredicate<Class<?>, Method> handlers) {
		super(Idempotent.class, IdempotencyTemplate.class);
		this.guarantee = guarantee;
		this.defaults = SingletonSupplier.of(defaults);
		this.settings = SingletonSupplier.of(settings);
		this.executor = SingletonSupplier
			.of(() -> new IdempotentExecutor(this.settings.get().guard(), this.settings.get().waitTimeout()));
		this.handlers = handlers;
	}

	@Override
	protected boolean matches(AnnotatedMethod method) {
		if (this.handlers.test(method.type(), method.method())) {
			return false;
		}
		Guarantee stated = annotationOf(method).guarantee();
		return this.guarantee == ((stated != Guarantee.DEFAULT) ? stated : this.defaults.get().guarantee());
	}

	/**
	 * An exception that advice hides would commit half of the work.
	 */
	@Override
	protected boolean isInnermost() {
		return this.guarantee == Guarantee.TRANSACTION;
	}

	@Override
	protected IdempotentMethod read(AnnotatedMethod method) {
		if (AnnotatedElementUtils.hasAnnotation(method.method(), Cancels.class)) {
			throw IdempotentConfigurationException.ofMethod(Cancels.class, method.describe(),
					"is not a web handler of Spring MVC, so @Cancels would have no effect",
					"Remove @Cancels, or move it to the handler.", null);
		}
		return IdempotentMethod.of(method, annotationOf(method), this.settings.get());
	}

	@Override
	protected @Nullable Object invoke(IdempotentMethod method, MethodInvocation invocation) throws Throwable {
		@Nullable Object[] arguments = invocation.getArguments();
		return this.executor.get()
			.run(method.operation(), keyOf(method, arguments), method.fingerprintOf(arguments, this.settings.get()),
					invocation::proceed);
	}

	private IdempotencyKey keyOf(IdempotentMethod method, @Nullable Object[] arguments) {
		try {
			return method.keyOf(arguments, this.settings.get().namespace());
		}
		catch (IllegalArgumentException ex) {
			this.settings.get().guard().decided(method.operation().observed(), null, Outcome.REFUSED, Duration.ZERO);
			throw ex;
		}
	}

	/**
	 * Returns the merged annotation of an annotated method.
	 * @param method the method
	 * @return the annotation
	 */
	public static Idempotent annotationOf(AnnotatedMethod method) {
		return Objects.requireNonNull(AnnotatedElementUtils.findMergedAnnotation(method.method(), Idempotent.class));
	}

}
