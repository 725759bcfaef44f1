package dev.idempotent.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.IdempotentConfigurationException;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;

/**
 * Advises the methods that have an annotation. Reads the attributes of each method once,
 * at first use: an advisor is created before the beans that it depends on.
 *
 * @param <T> the attributes of a method, as they are read
 */
public abstract class AnnotatedMethodAdvisor<T> extends StaticMethodMatcherPointcutAdvisor {

	static final String OVERTAKEN = "has advice of the application inside that of its annotation, "
			+ "where it could hide a failure or repeat the work";

	static final String OVERTAKEN_ACTION = "Let a BeanPostProcessor add its advice before existing advisors, advise "
			+ "the bean once, by a proxy that is neither frozen nor opaque, or use Guarantee.LEASE.";

	private final Class<? extends Annotation> annotation;

	private final @Nullable Class<?> alternative;

	private final Map<AnnotatedMethod, Boolean> matches = new ConcurrentHashMap<>();

	private final Map<AnnotatedMethod, T> attributes = new ConcurrentHashMap<>();

	/**
	 * Creates an advisor.
	 * @param annotation the annotation
	 * @param alternative the type that offers the same to code without the annotation,
	 * for messages; {@code null} if there is none
	 */
	protected AnnotatedMethodAdvisor(Class<? extends Annotation> annotation, @Nullable Class<?> alternative) {
		this.annotation = annotation;
		this.alternative = alternative;
		setClassFilter((type) -> AnnotatedMethod.isCandidate(type, annotation));
		setAdvice((MethodInterceptor) this::intercept);
	}

	@Override
	public final boolean matches(Method method, Class<?> targetClass) {
		AnnotatedMethod candidate = AnnotatedMethod.of(this.annotation, targetClass, method);
		Boolean known = this.matches.get(candidate);
		if (known == null) {
			// May create beans, which calls this method again for their methods.
			known = candidate.isPresent() && matches(candidate);
			this.matches.put(candidate, known);
		}
		return known;
	}

	/**
	 * Decides whether this advisor applies to an annotated method.
	 * @param method the method
	 * @return whether to advise it, by default {@code true}
	 */
	protected boolean matches(AnnotatedMethod method) {
		return true;
	}

	/**
	 * Called before a bean gets this advice, however late it is created.
	 * @param beanName the name of the bean
	 * @param instance the bean without its proxies
	 * @param methods its methods that this advisor applies to, maybe none
	 * @throws IdempotentConfigurationException if the bean must not have them
	 */
	protected void placing(String beanName, Object instance, List<AnnotatedMethod> methods) {
	}

	/**
	 * Finds the methods of a bean that this advisor applies to.
	 */
	final List<AnnotatedMethod> methodsOf(Object bean) {
		return AnnotatedMethod.findAll(this.annotation, AnnotatedMethodsCheck.targetClass(bean))
			.stream()
			.filter((method) -> matches(method.method(), method.type()))
			.toList();
	}

	/**
	 * Reads and checks the attributes of an annotated method.
	 * @param method the method
	 * @return the attributes
	 * @throws IdempotentConfigurationException if they are invalid
	 */
	protected abstract T read(AnnotatedMethod method);

	/**
	 * Runs a call of an annotated method.
	 * @param attributes what {@link #read} returned for the method
	 * @param invocation the call
	 * @return the result of the call
	 * @throws Throwable what the call throws
	 */
	protected abstract @Nullable Object invoke(T attributes, MethodInvocation invocation) throws Throwable;

	/**
	 * Returns whether calls are refused if advice of the application is inside of this
	 * one.
	 * @return whether this advice must see the outcome of the method itself, by default
	 * {@code false}
	 */
	protected boolean isInnermost() {
		return false;
	}

	T attributesOf(AnnotatedMethod method) {
		T known = this.attributes.get(method);
		if (known == null) {
			known = read(method);
			this.attributes.put(method, known);
		}
		return known;
	}

	Class<? extends Annotation> annotation() {
		return this.annotation;
	}

	@Nullable Class<?> alternative() {
		return this.alternative;
	}

	private @Nullable Object intercept(MethodInvocation invocation) throws Throwable {
		AnnotatedMethod method = AnnotatedMethod.of(this.annotation, typeOf(invocation), invocation.getMethod());
		if (isInnermost() && !InnermostAdvice.isOf(invocation, this)) {
			throw new IllegalStateException("The @" + this.annotation.getSimpleName() + " method " + method.describe()
					+ " was not run: it " + OVERTAKEN + ". " + OVERTAKEN_ACTION);
		}
		return invoke(attributesOf(method), invocation);
	}

	/**
	 * The class of a proxy without a target has a different name in each process, so its
	 * interface is used instead.
	 */
	private static Class<?> typeOf(MethodInvocation invocation) {
		Object target = invocation.getThis();
		Class<?> declaring = invocation.getMethod().getDeclaringClass();
		Class<?> type = (target != null) ? AopUtils.getTargetClass(target)
				: (invocation instanceof ProxyMethodInvocation call) ? call.getProxy().getClass() : declaring;
		return !Proxy.isProxyClass(type) ? type
				: Arrays.stream(type.getInterfaces()).filter(declaring::isAssignableFrom).findFirst().orElse(declaring);
	}

}
