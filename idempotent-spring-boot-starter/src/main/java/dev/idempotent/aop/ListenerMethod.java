package dev.idempotent.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.MimeTypeUtils;
import org.springframework.util.ReflectionUtils;

/**
 * A method of a bean that is called with messages: with the headers of a message, its
 * payload, both or nothing. The calls go through the proxies of the bean.
 */
public final class ListenerMethod {

	private static final String ASYNC = "org.springframework.scheduling.annotation.Async";

	private static final String CONTENT_TYPE = "content-type";

	private static final String HEADERS = ResolvableType.forClassWithGenerics(Map.class, String.class, String.class)
		.getType()
		.getTypeName();

	/**
	 * The payload that this thread has converted for the call that follows.
	 */
	private static final ThreadLocal<@Nullable Payload> CONVERTED = new ThreadLocal<>();

	private final AnnotatedMethod method;

	private final String bean;

	private final List<Type> parameters;

	private volatile @Nullable Call call;

	private ListenerMethod(AnnotatedMethod method, String bean) {
		this.method = method;
		this.bean = bean;
		this.parameters = parameters(method);
	}

	/**
	 * Finds the annotated methods of all beans, created or not.
	 * @param beans the beans of the application
	 * @param annotation the annotation
	 * @return the methods, once for each bean
	 * @throws IdempotentConfigurationException if a method cannot take messages, or may
	 * return before its work is done
	 */
	public static List<ListenerMethod> findAll(ConfigurableListableBeanFactory beans,
			Class<? extends Annotation> annotation) {
		List<ListenerMethod> found = new ArrayList<>();
		for (String bean : beans.getBeanNamesForType(Object.class, true, false)) {
			Class<?> type = ScopedProxyUtils.isScopedTarget(bean) ? null : typeOf(bean, beans);
			AnnotatedMethod.findAll(annotation, type).forEach((method) -> found.add(new ListenerMethod(method, bean)));
		}
		return found;
	}

	private static @Nullable Class<?> typeOf(String bean, ConfigurableListableBeanFactory beans) {
		String target = ScopedProxyUtils.getTargetBeanName(bean);
		return AutoProxyUtils.determineTargetClass(beans, beans.containsBeanDefinition(target) ? target : bean);
	}

	/**
	 * The method.
	 * @return with its annotation
	 */
	public AnnotatedMethod method() {
		return this.method;
	}

	/**
	 * The name of the bean.
	 * @return a name
	 */
	public String bean() {
		return this.bean;
	}

	/**
	 * The type of the payload.
	 * @return {@code null} if the method takes no payload
	 */
	public @Nullable Type payloadType() {
		return this.parameters.stream().filter((type) -> !isHeaders(type)).findAny().orElse(null);
	}

	/**
	 * Finds the method to call on the bean, which is created if it does not exist.
	 * @param beans the beans of the application
	 * @throws IdempotentConfigurationException if the method cannot be called through the
	 * proxies of the bean
	 */
	public void bind(ConfigurableListableBeanFactory beans) {
		String scoped = ScopedProxyUtils.getTargetBeanName(this.bean);
		if (beans.isPrototype(beans.containsBean(scoped) ? scoped : this.bean)) {
			throw this.method.invalid("belongs to a prototype bean, of which all threads would share one instance",
					"Make the bean a singleton, which can obtain an instance of the prototype in each call.", null);
		}
		Object target = beans.getBean(this.bean);
		if (AopUtils.isCglibProxy(target) && !isOverridable()) {
			throw this.method.invalid(
					"is final, or package-private in another package, so that the proxy of its bean cannot intercept it",
					"Make it a public method that is not final.", null);
		}
		try {
			Method invocable = AopUtils.selectInvocableMethod(this.method.method(), target.getClass());
			ReflectionUtils.makeAccessible(invocable);
			this.call = new Call(target, invocable);
		}
		catch (IllegalStateException ex) {
			throw this.method.invalid("is not declared by an interface of the bean's proxy",
					"Declare it in an interface of the bean, or set spring.aop.proxy-target-class=true.", ex);
		}
	}

	private boolean isOverridable() {
		Method declared = this.method.method();
		int modifiers = declared.getModifiers();
		return !Modifier.isFinal(modifiers) && (Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers)
				|| declared.getDeclaringClass().getPackageName().equals(this.method.type().getPackageName()));
	}

	/**
	 * The bean that is called.
	 * @return the bean, with its proxies
	 * @throws IllegalStateException if the method is not bound
	 */
	public Object target() {
		return bound().target();
	}

	private Call bound() {
		Call bound = this.call;
		if (bound == null) {
			throw new IllegalStateException("The method " + this.method.describe() + " is not bound");
		}
		return bound;
	}

	/**
	 * Converts a message to arguments.
	 * @param headers the headers
	 * @param payload the payload, or {@code null} if there is none; text is in the
	 * charset that the header {@code content-type} names, by default UTF-8
	 * @param reader converts payloads to types other than {@code byte[]} and
	 * {@code String}
	 * @return the arguments
	 * @throws UnreadablePayloadException if the payload cannot be converted
	 */
	public @Nullable Object[] arguments(Map<String, String> headers, byte @Nullable [] payload,
			BiFunction<byte[], Type, @Nullable Object> reader) throws UnreadablePayloadException {
		@Nullable Object[] arguments = new @Nullable Object[this.parameters.size()];
		for (int i = 0; i < arguments.length; i++) {
			Type type = this.parameters.get(i);
			arguments[i] = isHeaders(type) ? headers : read(payload, headers, type, reader);
			if (payload != null && arguments[i] != null && !isHeaders(type)) {
				CONVERTED.set(new Payload(this.method.method(), arguments[i], payload));
			}
		}
		return arguments;
	}

	/**
	 * Converts a message to an element of a list, for a method whose parameter is a list
	 * of payloads.
	 * @param headers the headers
	 * @param payload the payload, as for {@link #arguments}
	 * @param type the type of the elements
	 * @param reader as for {@link #arguments}
	 * @return the element
	 * @throws UnreadablePayloadException if the payload cannot be converted
	 */
	public static @Nullable Object element(Map<String, String> headers, byte[] payload, Type type,
			BiFunction<byte[], Type, @Nullable Object> reader) throws UnreadablePayloadException {
		return read(payload, headers, type, reader);
	}

	/**
	 * The type of the elements, if the only parameter is a list of payloads.
	 * @return {@code null} if it is not
	 */
	public @Nullable Type elementType() {
		if (this.parameters.size() != 1) {
			return null;
		}
		ResolvableType list = ResolvableType.forType(this.parameters.get(0));
		return (list.resolve() == List.class && list.hasGenerics() && !list.hasUnresolvableGenerics())
				? list.getGeneric(0).getType() : null;
	}

	/**
	 * Returns what has arrived as a payload: another release may convert it differently.
	 * @param called the method that is called
	 * @param argument its argument
	 * @return the payload that was converted to exactly this argument of the current call
	 * of a listener; {@code null} if there is none
	 */
	public static byte @Nullable [] payloadOf(Method called, Object argument) {
		Payload converted = CONVERTED.get();
		return (converted != null && converted.argument() == argument && converted.method().equals(called))
				? converted.bytes() : null;
	}

	private static @Nullable Object read(byte @Nullable [] payload, Map<String, String> headers, Type type,
			BiFunction<byte[], Type, @Nullable Object> reader) throws UnreadablePayloadException {
		if (payload == null) {
			throw new UnreadablePayloadException("There is no payload", null);
		}
		if (type == byte[].class) {
			return payload;
		}
		try {
			return (type == String.class) ? new String(payload, charset(headers)) : reader.apply(payload, type);
		}
		catch (RuntimeException ex) {
			throw new UnreadablePayloadException("The payload cannot be converted to " + type.getTypeName(), ex);
		}
	}

	/**
	 * The charset that the media type of the payload names. Without one, it need not be a
	 * media type.
	 * @throws RuntimeException if it is unknown
	 */
	private static Charset charset(Map<String, String> headers) {
		String contentType = headers.getOrDefault(CONTENT_TYPE, "");
		Charset named = contentType.toLowerCase(Locale.ROOT).contains("charset")
				? MimeTypeUtils.parseMimeType(contentType).getCharset() : null;
		return (named != null) ? named : StandardCharsets.UTF_8;
	}

	/**
	 * Calls the method.
	 * @param arguments the arguments
	 * @throws IllegalStateException if the method is not bound
	 * @throws Throwable what the method throws
	 */
	public void invoke(@Nullable Object... arguments) throws Throwable {
		Call bound = bound();
		try {
			Object returned = bound.method().invoke(bound.target(), arguments);
			if (returned != null && AnnotatedMethod.isEarly(returned.getClass())) {
				throw new IllegalStateException("The listener has returned a " + returned.getClass().getName()
						+ ", whose work may not be done yet. Do the work on the calling thread");
			}
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
		finally {
			CONVERTED.remove();
		}
	}

	private static boolean isHeaders(Type type) {
		return !(type instanceof Class<?>) && type.getTypeName().equals(HEADERS);
	}

	private static List<Type> parameters(AnnotatedMethod annotated) {
		Method method = annotated.method();
		if (Modifier.isStatic(method.getModifiers()) || Modifier.isPrivate(method.getModifiers())) {
			throw annotated.invalid("is private or static, so that a proxy cannot intercept it",
					"Make it an instance method that is not private.", null);
		}
		requireEndWithReturn(annotated);
		List<Type> parameters = new ArrayList<>();
		for (Type each : method.getGenericParameterTypes()) {
			parameters.add(GenericTypeResolver.resolveType(each, annotated.type()));
		}
		long headers = parameters.stream().filter(ListenerMethod::isHeaders).count();
		if (headers > 1 || parameters.size() - headers > 1) {
			throw annotated.invalid(
					"has %d parameters for headers and %d for the payload".formatted(headers,
							parameters.size() - headers),
					"Declare at most one Map<String, String>, which receives the headers, and one other parameter, "
							+ "which receives the payload.",
					null);
		}
		return parameters;
	}

	private static void requireEndWithReturn(AnnotatedMethod annotated) {
		if (annotated.returnsEarly() || isAsync(annotated.method()) || isAsync(annotated.type())) {
			throw annotated.invalid("may return before its work is done, which would count as done too early",
					"Do the work on the calling thread and return no future or publisher; set concurrency for more "
							+ "threads.",
					null);
		}
	}

	private static boolean isAsync(AnnotatedElement element) {
		return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).isPresent(ASYNC);
	}

	/**
	 * Thrown when a message has no payload, or its payload cannot be converted. Another
	 * attempt cannot change that.
	 */
	public static final class UnreadablePayloadException extends Exception {

		/**
		 * Creates an exception.
		 * @param message without a part of the payload
		 * @param cause the failure, which may contain a part of it, or {@code null}
		 */
		public UnreadablePayloadException(String message, @Nullable Throwable cause) {
			super(message, cause);
		}

	}

	private record Call(Object target, Method method) {
	}

	@SuppressWarnings("ArrayRecordComponent")
	private record Payload(Method method, Object argument, byte[] bytes) {
	}

}
