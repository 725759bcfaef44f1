package dev.idempotent.idempotency.method;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.aop.AnnotatedMethodAdvisor;
import dev.idempotent.aop.ListenerInvocationGuard;
import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver.Operation.Kind;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.canonical.IncomparableValueException;
import dev.idempotent.idempotency.engine.IdempotencyTransactions;
import dev.idempotent.idempotency.operation.KeyExpression;
import dev.idempotent.idempotency.operation.OperationNames;
import dev.idempotent.idempotency.operation.OperationSettings;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.util.function.SingletonSupplier;
import tools.jackson.core.JacksonException;

/**
 * Runs {@code @Idempotent} methods of one guarantee once per key. The guarantee
 * determines the position of the advice.
 */
public final class IdempotentMethodAdvisor extends AnnotatedMethodAdvisor<IdempotentMethodAdvisor.IdempotentMethod> {

	/**
	 * By name, because the library is optional.
	 */
	private static final String EXCHANGE = "org.springframework.web.service.annotation.HttpExchange";

	private static final String IF_HANDLER = " If it handles requests, whichever handler mapping finds it, annotate its "
			+ "class with @Controller or @RestController and the method with @RequestMapping, such as @PostMapping: it "
			+ "is a web handler only then.";

	private final Guarantee guarantee;

	private final Supplier<OperationSettings> defaults;

	private final Supplier<MethodSettings> settings;

	private final BiPredicate<Class<?>, Method> handlers;

	private final OperationNames names;

	/**
	 * Creates an advisor.
	 * @param guarantee the guarantee of the methods to advise, never the default
	 * @param defaults supplies the guarantee of annotations that do not specify one
	 * @param settings supplies the settings of all runs, when the first annotation is
	 * read
	 * @param handlers the web handlers, which are not advised
	 * @param names the names of all operations, whatever their guarantee
	 */
	public IdempotentMethodAdvisor(Guarantee guarantee, Supplier<OperationSettings> defaults,
			Supplier<MethodSettings> settings, BiPredicate<Class<?>, Method> handlers, OperationNames names) {
		super(Idempotent.class, IdempotencyTemplate.class);
		this.guarantee = guarantee;
		this.defaults = SingletonSupplier.of(defaults);
		this.settings = SingletonSupplier.of(settings);
		this.handlers = handlers;
		this.names = names;
	}

	@Override
	protected boolean matches(AnnotatedMethod method) {
		if (this.handlers.test(method.type(), method.method()) || isCallOfAHandler(method)) {
			return false;
		}
		Guarantee stated = annotationOf(method).guarantee();
		return this.guarantee == ((stated != Guarantee.DEFAULT) ? stated : this.defaults.get().guarantee());
	}

	/**
	 * Whether the annotation is meant for a web handler: it stands on an interface that
	 * this bean, a client, calls the handler through.
	 */
	private static boolean isCallOfAHandler(AnnotatedMethod method) {
		return annotationOf(method).key().isEmpty()
				&& (method.type().isInterface() || Proxy.isProxyClass(method.type()))
				&& MergedAnnotations.from(method.method(), SearchStrategy.TYPE_HIERARCHY).isPresent(EXCHANGE);
	}

	/**
	 * Beans that are created late, or declared by an interface, are unknown at the start.
	 */
	@Override
	protected void placing(String beanName, Object instance, List<AnnotatedMethod> methods) {
		for (AnnotatedMethod method : methods) {
			// A class that cannot be proxied does not matter to a web handler.
			requireNoHandler(method);
			String name = annotationOf(method).name();
			if (!name.isEmpty()) {
				this.names.add(name, beanName, instance, method.describe());
			}
		}
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
		requireNoHandler(method);
		return IdempotentMethod.of(method, annotationOf(method), this.settings.get());
	}

	/**
	 * Rejects attributes that only a web handler can have, or leave out.
	 */
	private static void requireNoHandler(AnnotatedMethod method) {
		Idempotent annotation = annotationOf(method);
		if (AnnotatedElementUtils.hasAnnotation(method.method(), Cancels.class)) {
			throw IdempotentConfigurationException.ofMethod(Cancels.class, method.describe(),
					"is not a web handler of Spring MVC, so @Cancels would have no effect",
					"Remove @Cancels, or move it to the handler." + IF_HANDLER, null);
		}
		if (annotation.include().length > 0) {
			throw method.invalid("includes headers of requests, and is not a web handler of Spring MVC",
					"Remove include, or add a parameter for the value that decides the work: all arguments are compared."
							+ IF_HANDLER,
					null);
		}
		if (annotation.from() == KeySource.TOKEN) {
			throw method.invalid("takes its key from a one-time token, and is not a web handler of Spring MVC",
					"Move the annotation to the web handler that gets the token, or set the argument that is the key, "
							+ "such as key = \"#event.id\", without from = KeySource.TOKEN." + IF_HANDLER,
					null);
		}
		if (annotation.key().isEmpty() && annotation.from() != KeySource.TOOL_CALL) {
			throw method.invalid("has no key, and is not a web handler of Spring MVC",
					"Set the argument that is the key, such as key = \"#event.id\". If the method is a tool of Spring AI, "
							+ "set from = KeySource.TOOL_CALL and a window." + IF_HANDLER,
					null);
		}
	}

	@Override
	protected @Nullable Object invoke(IdempotentMethod method, MethodInvocation invocation) throws Throwable {
		MethodSettings shared = this.settings.get();
		if (method.tool() != null) {
			return method.tool().invoke(shared, invocation);
		}
		@Nullable Object[] arguments = invocation.getArguments();
		AtomicBoolean ran = new AtomicBoolean();
		KeyedCall call = identify(method, arguments);
		Object result = method.operation().run(shared, call.key(), call.fingerprint(), () -> {
			ran.set(true);
			return invocation.proceed();
		});
		if (!ran.get()) {
			ListenerInvocationGuard.replayed(invocation);
		}
		return result;
	}

	private KeyedCall identify(IdempotentMethod method, @Nullable Object[] arguments) {
		try {
			return new KeyedCall(method.keyOf(arguments, this.settings.get().namespace()),
					method.arguments().fingerprint(arguments));
		}
		catch (IllegalArgumentException ex) {
			this.settings.get().engine().decided(method.operation().observed(), null, Outcome.REFUSED, Duration.ZERO);
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

	private record KeyedCall(IdempotencyKey key, Fingerprint fingerprint) {
	}

	/**
	 * An annotated method: its operation, and how a call yields a key and a fingerprint.
	 *
	 * @param described the method, for messages
	 * @param operation the operation of all calls
	 * @param key the expression of the key; {@code null} only if calls of a tool need not
	 * have one
	 * @param arguments reads the arguments of a call
	 * @param tool the tool that the method is, if its calls determine the keys
	 */
	record IdempotentMethod(String described, MethodOperation operation, @Nullable KeyExpression key,
			MethodArguments arguments, @Nullable ToolMethod tool) {

		private static final String INCOMPARABLE = "List the parameter in the attribute 'ignore' if it does not matter, "
				+ "declare a bean of type CanonicalForm for the class, or pass what identifies it.";

		/**
		 * Reads the annotation of a method.
		 * @throws dev.idempotent.IdempotentConfigurationException if it is invalid
		 */
		static IdempotentMethod of(AnnotatedMethod method, Idempotent annotation, MethodSettings settings) {
			OperationSettings operationSettings = OperationSettings.of(method.type(), method.method(), annotation,
					settings.defaults());
			List<String> names = method.parameterNames();
			ResultCodec codec = ResultCodec.of(method, settings.json(), settings.values());
			boolean asynchronous = CompletionStage.class.isAssignableFrom(method.method().getReturnType());
			IdempotencyTransactions transactions = (operationSettings.guarantee() == Guarantee.TRANSACTION)
					? transactions(method, asynchronous, settings) : null;
			Propagation participation = participation(method, transactions, settings);
			KeyExpression key = !annotation.key().isEmpty() ? key(method, annotation, names, settings.values()) : null;
			OperationNames.require(method.type(), method.method(), annotation);
			MethodOperation operation = new MethodOperation(operationSettings, kind(method), codec, asynchronous,
					participation, transactions);
			MethodArguments arguments = arguments(method, annotation.key(), annotation.ignore(), settings.values());
			ToolMethod tool = (annotation.from() == KeySource.TOOL_CALL)
					? ToolMethod.of(method, annotation, operation, key, arguments, settings.tools()) : null;
			return new IdempotentMethod(method.describe(), operation, key, arguments, tool);
		}

		/**
		 * Recognizes listeners by the names of their annotations, which belong to many
		 * libraries.
		 */
		private static Kind kind(AnnotatedMethod method) {
			return Stream.of(method.method(), method.type())
				.flatMap((element) -> MergedAnnotations.from(element).stream())
				.anyMatch((annotation) -> annotation.getType().getSimpleName().endsWith("Listener")) ? Kind.LISTENER
						: Kind.METHOD;
		}

		/**
		 * Derives the key of a call.
		 * @throws IllegalArgumentException if the arguments yield none
		 */
		IdempotencyKey keyOf(@Nullable Object[] values, String namespace) {
			try {
				String value = Objects.requireNonNull(this.key).evaluate(this.arguments.byName(values));
				if (value != null) {
					return IdempotencyKey.of(IdempotencyKey.Kind.METHOD, namespace, "",
							this.operation.settings().name(), value);
				}
			}
			catch (EvaluationException | JacksonException ex) {
				throw noKey(ex);
			}
			throw noKey(null);
		}

		private IllegalArgumentException noKey(@Nullable Exception cause) {
			return new IllegalArgumentException("This call of " + this.described
					+ " has no idempotency key: the key expression of its @Idempotent yields nothing for its arguments",
					cause);
		}

		private static KeyExpression key(AnnotatedMethod method, Idempotent annotation, List<String> names,
				CanonicalValues values) {
			String text = annotation.key();
			try {
				return KeyExpression.parse(text, new HashSet<>(names), values);
			}
			catch (ParseException | IllegalArgumentException ex) {
				throw OperationSettings.badExpression(method.describe(), text, ex);
			}
		}

		private static MethodArguments arguments(AnnotatedMethod method, String key, String[] ignored,
				CanonicalValues values) {
			try {
				MethodArguments arguments = new MethodArguments(method, ignored, values, INCOMPARABLE);
				arguments.requireComparableKey(method, key);
				return arguments;
			}
			catch (IncomparableValueException ex) {
				throw method.invalid(Objects.requireNonNull(ex.getMessage()), INCOMPARABLE, ex);
			}
			catch (IllegalArgumentException ex) {
				throw method.invalid("ignores " + Arrays.toString(ignored) + ": " + ex.getMessage(),
						"List names of parameters, and JSON pointers that begin with one, such as /event/sentAt.", ex);
			}
		}

		private static IdempotencyTransactions transactions(AnnotatedMethod method, boolean asynchronous,
				MethodSettings settings) {
			if (asynchronous) {
				throw method.invalid("returns a future, and a transaction ends when its method returns",
						"Return the result itself "
								+ "(an @Async method may be called by another that returns the future), or use "
								+ "Guarantee.LEASE.",
						null);
			}
			if (settings.transactionSource() == null) {
				throw OperationSettings.noDatabase(method.describe());
			}
			return settings.transactionSource().joiningTransactionsOf(method.type(), method.method());
		}

		/**
		 * Under {@link Guarantee#TRANSACTION} the advice is inside the method's own
		 * transaction, and joins it.
		 */
		private static Propagation participation(AnnotatedMethod method, @Nullable IdempotencyTransactions transactions,
				MethodSettings settings) {
			TransactionAttributeSource attributes = settings.attributes();
			TransactionAttribute own = (transactions == null && attributes != null)
					? attributes.getTransactionAttribute(method.method(), method.type()) : null;
			return switch ((own != null) ? own.getPropagationBehavior() : TransactionDefinition.PROPAGATION_REQUIRED) {
				case TransactionDefinition.PROPAGATION_REQUIRES_NEW, TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
						TransactionDefinition.PROPAGATION_NEVER ->
					Propagation.REQUIRES_NEW;
				case TransactionDefinition.PROPAGATION_NESTED -> Propagation.NESTED;
				default -> Propagation.REQUIRED;
			};
		}

	}

}
