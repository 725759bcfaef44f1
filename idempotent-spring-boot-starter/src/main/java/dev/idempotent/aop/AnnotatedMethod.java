package dev.idempotent.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.util.ClassUtils;
import org.springframework.util.ConcurrentReferenceHashMap;
import org.springframework.util.ReflectionUtils;

/**
 * A method with an annotation of this library, as seen by the class of a bean.
 *
 * @param annotation the annotation
 * @param type the class of the bean, or an interface of a proxy without a target class
 * @param method the method
 */
public record AnnotatedMethod(Class<? extends Annotation> annotation, Class<?> type, Method method) {

	private static final String OWN = IdempotentConfigurationException.class.getPackageName() + ".";

	/**
	 * The annotations of this library on the methods of a class and of its hierarchy.
	 */
	private static final Map<Class<?>, Set<Class<?>>> ANNOTATIONS = new ConcurrentReferenceHashMap<>(512);

	private static final String CONTROLLER = "org.springframework.stereotype.Controller";

	private static final List<String> MAPPINGS = List.of("org.springframework.web.bind.annotation.RequestMapping",
			"org.springframework.web.service.annotation.HttpExchange");

	private static final Set<String> PUBLISHER = Set.of("org.reactivestreams.Publisher");

	private static final String HTTP_ENTITY = "org.springframework.http.HttpEntity";

	/**
	 * What Spring MVC responds to later, beside values that are early.
	 */
	private static final Set<String> LATE_RESPONSES = Set.of("java.util.concurrent.Callable",
			"org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.servlet.function.AsyncServerResponse",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

	/**
	 * Finds the annotated methods of a bean: annotated themselves, in a superclass or an
	 * interface, or by a composed annotation.
	 * @param annotation the annotation
	 * @param beanType the class of the bean; {@code null} if it is unknown
	 * @return the methods; none if the class refers to classes that are missing
	 */
	public static List<AnnotatedMethod> findAll(Class<? extends Annotation> annotation, @Nullable Class<?> beanType) {
		if (beanType == null) {
			return List.of();
		}
		List<Class<?>> types = Proxy.isProxyClass(beanType) ? List.of(beanType.getInterfaces())
				: List.of(ClassUtils.getUserClass(beanType));
		return types.stream()
			.flatMap((type) -> methodsOf(type, annotation).stream()
				.map((method) -> new AnnotatedMethod(annotation, type, method)))
			.toList();
	}

	/**
	 * Finds the method that a call on an object of a class runs, annotated or not.
	 */
	static AnnotatedMethod of(Class<? extends Annotation> annotation, Class<?> type, Method method) {
		return new AnnotatedMethod(annotation, type, AopUtils.getMostSpecificMethod(method, type));
	}

	boolean isPresent() {
		return isPresent(this.method, this.annotation);
	}

	/**
	 * Returns whether a web framework calls the method.
	 * @return {@code true} for a handler method of a controller
	 */
	public boolean isWebHandler() {
		MergedAnnotations onMethod = MergedAnnotations.from(this.method, SearchStrategy.TYPE_HIERARCHY);
		return MergedAnnotations.from(this.type, SearchStrategy.TYPE_HIERARCHY).isPresent(CONTROLLER)
				&& MAPPINGS.stream().anyMatch(onMethod::isPresent);
	}

	/**
	 * Describes the method for messages.
	 * @return class, method and parameter types
	 */
	public String describe() {
		return IdempotentConfigurationException.describe(this.type, this.method);
	}

	/**
	 * Reads the names of the parameters.
	 * @return the names, in order
	 * @throws IdempotentConfigurationException if the class was compiled without them
	 */
	public List<String> parameterNames() {
		@Nullable String[] names = new DefaultParameterNameDiscoverer().getParameterNames(this.method);
		if (names == null && this.method.getParameterCount() > 0) {
			throw invalid("was compiled without the names of its parameters",
					"Compile with -parameters (spring-boot-starter-parent and the Gradle plugin set it; "
							+ "otherwise set maven.compiler.parameters=true).",
					null);
		}
		return (names == null) ? List.of() : Arrays.asList(names);
	}

	/**
	 * Returns whether the method may return before its work is done.
	 * @return whether it returns a future, or another type whose work goes on
	 */
	public boolean returnsEarly() {
		return isEarly(this.method.getReturnType());
	}

	/**
	 * Returns whether a value stands for work that may not be done yet.
	 * @param type its class
	 * @return whether it is a future, a publisher, or a type that Spring adapts to one
	 */
	public static boolean isEarly(Class<?> type) {
		return CompletionStage.class.isAssignableFrom(type) || Future.class.isAssignableFrom(type)
				|| Flow.Publisher.class.isAssignableFrom(type) || isAny(type, PUBLISHER)
				|| ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
	}

	/**
	 * Returns whether a web handler may respond after it has returned.
	 * @param handler the method
	 * @return whether it is a suspending function, or returns a late response or an
	 * {@code HttpEntity} of one
	 */
	public static boolean respondsLater(Method handler) {
		ResolvableType returned = ResolvableType.forMethodReturnType(handler);
		return KotlinDetector.isSuspendingFunction(handler) || isLateResponse(returned.toClass())
				|| isLateResponse(bodyOf(returned).toClass());
	}

	/**
	 * Returns whether the response that a value stands for may be sent, or change, after
	 * the web handler has returned the value. More types than early ones: Spring MVC runs
	 * the work of a {@code Callable} then, and waits for an emitter.
	 * @param type its class
	 * @return whether it is early, or Spring MVC processes it asynchronously
	 */
	public static boolean isLateResponse(Class<?> type) {
		return isEarly(type) || isAny(type, LATE_RESPONSES);
	}

	private static ResolvableType bodyOf(ResolvableType type) {
		ResolvableType entity = type;
		while (!entity.equals(ResolvableType.NONE) && !entity.toClass().getName().equals(HTTP_ENTITY)) {
			entity = entity.getSuperType();
		}
		return entity.getGeneric();
	}

	private static boolean isAny(@Nullable Class<?> type, Set<String> names) {
		return type != null && (names.contains(type.getName()) || isAny(type.getSuperclass(), names)
				|| Arrays.stream(type.getInterfaces()).anyMatch((each) -> isAny(each, names)));
	}

	/**
	 * Creates the exception for an annotation that is invalid on this method.
	 * @param problem what is wrong, as a predicate without the full stop
	 * @param action what to do, as a sentence
	 * @param cause what revealed the problem, or {@code null}
	 * @return the exception to throw
	 */
	public IdempotentConfigurationException invalid(String problem, String action, @Nullable Exception cause) {
		return IdempotentConfigurationException.ofMethod(this.annotation, describe(), problem, action, cause);
	}

	/**
	 * Returns whether a class, a superclass or an interface declares an annotated method.
	 * Few do, and to search the hierarchy of each method of all beans would delay the
	 * start.
	 */
	static boolean isCandidate(Class<?> type, Class<? extends Annotation> annotation) {
		return annotationsIn(type).contains(annotation);
	}

	private static Set<Class<?>> annotationsIn(Class<?> type) {
		if (type.getName().startsWith("java.")) {
			return Set.of();
		}
		Set<Class<?>> known = ANNOTATIONS.get(type);
		if (known == null) {
			Set<Class<?>> found = new HashSet<>();
			ReflectionUtils.doWithLocalMethods(type, (method) -> addAnnotations(method, found));
			if (type.getSuperclass() != null) {
				found.addAll(annotationsIn(type.getSuperclass()));
			}
			for (Class<?> each : type.getInterfaces()) {
				found.addAll(annotationsIn(each));
			}
			known = Set.copyOf(found);
			ANNOTATIONS.put(type, known);
		}
		return known;
	}

	private static void addAnnotations(Method method, Set<Class<?>> found) {
		if (method.getDeclaredAnnotations().length > 0) {
			for (MergedAnnotation<?> each : MergedAnnotations.from(method)) {
				if (each.getType().getName().startsWith(OWN)) {
					found.add(each.getType());
				}
			}
		}
	}

	private static Set<Method> methodsOf(Class<?> type, Class<? extends Annotation> annotation) {
		try {
			return !isCandidate(type, annotation) ? Set.of()
					: MethodIntrospector.selectMethods(type, (Method method) -> isPresent(method, annotation));
		}
		catch (IllegalStateException | LinkageError ex) {
			// Creating such a bean reports the missing class itself.
			return Set.of();
		}
	}

	private static boolean isPresent(Method method, Class<? extends Annotation> annotation) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY, RepeatableContainers.standardRepeatables())
			.isPresent(annotation);
	}

}
