package dev.idempotent.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.Advisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AdvisedSupport;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.Assert;
import org.springframework.util.ReflectionUtils;

/**
 * Checks at start-up that an annotation is valid on each method that has it, and that
 * calls of the method pass through its advice.
 */
public final class AnnotatedMethodsCheck {

	private static final Logger logger = LoggerFactory.getLogger(AnnotatedMethodsCheck.class);

	private static final String REPOSITORY = "org.springframework.data.repository.Repository";

	/**
	 * The bean that weaves transactions into classes.
	 */
	private static final String WEAVER = "org.springframework.transaction.config.internalTransactionAspect";

	/**
	 * The bean by which a test replaces beans, for example with mocks, which are never
	 * advised.
	 */
	private static final String BEAN_OVERRIDES = "org.springframework.test.context.bean.override."
			+ "internalBeanOverrideRegistry";

	/**
	 * The annotations of methods that a container calls.
	 */
	private static final List<String> CONTAINER_CALLS = List.of("org.springframework.scheduling.annotation.Scheduled",
			"org.springframework.scheduling.annotation.Schedules",
			"org.springframework.messaging.handler.annotation.MessageMapping");

	private final ConfigurableListableBeanFactory beans;

	private final Class<? extends Annotation> annotation;

	private final List<AnnotatedMethodAdvisor<?>> advisors;

	/**
	 * Creates a check.
	 * @param beans the beans of the application, with an {@link AdvisorBeanPostProcessor}
	 * for each advisor of the annotation
	 * @param annotation the annotation
	 */
	public AnnotatedMethodsCheck(ConfigurableListableBeanFactory beans, Class<? extends Annotation> annotation) {
		this(beans, annotation, advisorsIn(beans, annotation));
		Assert.state(!this.advisors.isEmpty(), () -> "No AdvisorBeanPostProcessor has an advisor of " + annotation);
	}

	private AnnotatedMethodsCheck(ConfigurableListableBeanFactory beans, Class<? extends Annotation> annotation,
			List<AnnotatedMethodAdvisor<?>> advisors) {
		this.beans = beans;
		this.annotation = annotation;
		this.advisors = advisors;
	}

	private static List<AnnotatedMethodAdvisor<?>> advisorsIn(ConfigurableListableBeanFactory beans,
			Class<? extends Annotation> annotation) {
		return beans.getBeansOfType(AdvisorBeanPostProcessor.class)
			.values()
			.stream()
			.map(AdvisorBeanPostProcessor::advisor)
			.filter(AnnotatedMethodAdvisor.class::isInstance)
			.<AnnotatedMethodAdvisor<?>>map((advisor) -> (AnnotatedMethodAdvisor<?>) advisor)
			.filter((advisor) -> advisor.annotation() == annotation)
			.toList();
	}

	/**
	 * Checks the methods of all beans, created or not.
	 * @return the annotated methods that are advised, once for each bean
	 * @throws IdempotentConfigurationException if an annotation is invalid, or would have
	 * no effect
	 */
	public List<AnnotatedMethod> check() {
		List<AnnotatedMethod> found = new ArrayList<>();
		check((bean, method) -> found.add(method));
		return found;
	}

	/**
	 * Checks the methods of all beans, created or not.
	 * @param found gets the annotated methods that are advised, with the names of their
	 * beans
	 * @throws IdempotentConfigurationException if an annotation is invalid, or would have
	 * no effect
	 */
	public void check(BiConsumer<String, AnnotatedMethod> found) {
		for (String name : this.beans.getBeanNamesForType(Object.class, true, false)) {
			if (!isScopedProxy(name)) {
				for (AnnotatedMethod method : AnnotatedMethod.findAll(this.annotation, typeOf(name))) {
					if (isAdvised(name, method)) {
						found.accept(name, method);
					}
				}
			}
		}
	}

	/**
	 * Finds the annotated methods that are advised. A bean that a test has replaced is
	 * not advised.
	 * @return the methods, once for each bean
	 */
	public List<BeanMethod> findAdvised() {
		List<BeanMethod> found = new ArrayList<>();
		for (String name : this.beans.getBeanNamesForType(Object.class, true, false)) {
			if (!isScopedProxy(name)) {
				AnnotatedMethod.findAll(this.annotation, typeOf(name))
					.stream()
					.filter((method) -> this.advisors.stream()
						.anyMatch((advisor) -> advisor.matches(method.method(), method.type())))
					.filter((method) -> !isReplaced(name))
					.forEach((method) -> found.add(new BeanMethod(displayName(name), targetOf(name), method)));
			}
		}
		return found;
	}

	/**
	 * Requires that a bean has the advice that its annotated methods need, when it is
	 * created. At the start, the class of a bean may be unknown.
	 * @throws IdempotentConfigurationException if an annotation would have no effect
	 */
	static void requireAdvised(ConfigurableListableBeanFactory beans, AnnotatedMethodAdvisor<?> advisor, Object bean) {
		for (AnnotatedMethod method : advisor.methodsOf(bean)) {
			new AnnotatedMethodsCheck(beans, advisor.annotation(), List.of(advisor)).requireAdvised(bean, method,
					advisor);
		}
	}

	static String displayName(String beanName) {
		return ScopedProxyUtils.isScopedTarget(beanName) ? ScopedProxyUtils.getOriginalBeanName(beanName) : beanName;
	}

	/**
	 * Returns whether the calls of an object pass through the advice of its annotated
	 * methods, or the object is a bean by which a test has replaced another one.
	 * @param object the object that is called
	 * @return {@code false} if the annotation has no effect there
	 */
	public boolean isAdvisedOrReplaced(Object object) {
		return hasAdvice(object) || Stream.of(this.beans.getBeanNamesForType(object.getClass(), true, false))
			.anyMatch((name) -> beanOf(name) == object && isReplaced(name));
	}

	private boolean isReplaced(String beanName) {
		Object bean = beanOf(beanName);
		return bean != null && this.beans.containsSingleton(BEAN_OVERRIDES) && !hasAdvice(bean);
	}

	private @Nullable Object targetOf(String beanName) {
		Object bean = beanOf(beanName);
		return (bean != null) ? withoutProxies(bean) : null;
	}

	static Object withoutProxies(Object bean) {
		Object target = bean;
		for (Object next = bean; next != null; next = AopProxyUtils.getSingletonTarget(next)) {
			target = next;
		}
		return target;
	}

	/**
	 * Returns the class of a bean without its proxies, also behind a proxy that does not
	 * reveal it.
	 */
	static Class<?> targetClass(Object bean) {
		if (bean instanceof SpringProxy && !(bean instanceof Advised) && Proxy.isProxyClass(bean.getClass())) {
			InvocationHandler handler = Proxy.getInvocationHandler(bean);
			Field configuration = ReflectionUtils.findField(handler.getClass(), null, AdvisedSupport.class);
			if (configuration != null) {
				ReflectionUtils.makeAccessible(configuration);
				Object advised = ReflectionUtils.getField(configuration, handler);
				Class<?> target = (advised instanceof AdvisedSupport support) ? support.getTargetClass() : null;
				return (target != null) ? target : bean.getClass();
			}
		}
		return AopProxyUtils.ultimateTargetClass(bean);
	}

	/**
	 * The target of a proxy that the application has created itself is known when the
	 * bean is.
	 */
	private @Nullable Class<?> typeOf(String beanName) {
		Class<?> type = AutoProxyUtils.determineTargetClass(this.beans, beanName);
		if (type == null || !Proxy.isProxyClass(type)) {
			return type;
		}
		Object bean = beanOf(beanName);
		return (bean != null) ? targetClass(bean) : type;
	}

	private boolean isAdvised(String beanName, AnnotatedMethod method) {
		for (AnnotatedMethodAdvisor<?> advisor : this.advisors) {
			if (advisor.matches(method.method(), method.type())) {
				check(beanName, method, advisor);
				return true;
			}
		}
		return false;
	}

	private void check(String beanName, AnnotatedMethod method, AnnotatedMethodAdvisor<?> advisor) {
		requireAdvised(beanOf(beanName), method, advisor);
		if (advisor.isInnermost() && isOvertaken(beanName, method.method(), advisor)) {
			throw method.invalid(AnnotatedMethodAdvisor.OVERTAKEN, AnnotatedMethodAdvisor.OVERTAKEN_ACTION, null);
		}
		advisor.attributesOf(method);
		if (mayBeBypassed(beanName, method.method())) {
			logger.warn(
					"The @{} method {} is called by its container, and its bean is part of a circular reference: "
							+ "where Spring injects the bean before it is proxied, the annotation has no effect. "
							+ "Break the cycle, for example with @Lazy",
					this.annotation.getSimpleName(), method.describe());
		}
	}

	private void requireAdvised(@Nullable Object bean, AnnotatedMethod method, AnnotatedMethodAdvisor<?> advisor) {
		String obstacle = obstacle(bean, method.type(), method.method());
		if (obstacle != null) {
			Class<?> alternative = advisor.alternative();
			throw method.invalid(obstacle + ", so it cannot be advised",
					"Annotate a method of another bean that Spring can proxy"
							+ ((alternative != null) ? ", or use " + alternative.getSimpleName() + " in code." : "."),
					null);
		}
	}

	/**
	 * The target bean of a scoped proxy is checked itself.
	 */
	private boolean isScopedProxy(String name) {
		return this.beans.containsBeanDefinition(ScopedProxyUtils.getTargetBeanName(name));
	}

	/**
	 * Determines why a method of a bean cannot be advised.
	 * @return the reason, as a predicate, or {@code null} if it can be advised
	 */
	private @Nullable String obstacle(@Nullable Object bean, Class<?> type, Method method) {
		boolean byInterface = AopUtils.isJdkDynamicProxy(bean);
		String obstacle = obstacleOf(type, bean);
		return (obstacle != null) ? obstacle : obstacleOf(type, method, byInterface ? bean : null);
	}

	/**
	 * Determines whether a container may call a method on the target of a proxy: in a
	 * circular reference, Spring may inject the bean before it is proxied.
	 */
	private boolean mayBeBypassed(String beanName, Method method) {
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		return CONTAINER_CALLS.stream().anyMatch(annotations::isPresent) && isInCircle(beanName);
	}

	/**
	 * Determines whether other advice is inside of an advisor. A target that differs from
	 * call to call is not known yet.
	 */
	private boolean isOvertaken(String beanName, Method method, Advisor advisor) {
		Object bean = beanOf(beanName);
		return bean instanceof Advised advised && advised.getTargetSource().isStatic() && hasAdvice(bean)
				&& !InnermostAdvice.isIn(bean, method, advisor::equals);
	}

	private boolean isInCircle(String beanName) {
		Set<String> needed = new HashSet<>();
		Deque<String> open = new ArrayDeque<>(List.of(beanName));
		while (!open.isEmpty()) {
			for (String dependency : this.beans.getDependenciesForBean(open.pop())) {
				if (needed.add(dependency)) {
					open.push(dependency);
				}
			}
		}
		return needed.contains(beanName);
	}

	/**
	 * Finds the instance of a bean, or the product of a factory bean, if it exists.
	 */
	private @Nullable Object beanOf(String name) {
		Object bean = this.beans.containsSingleton(name) ? this.beans.getSingleton(name) : null;
		if (bean instanceof FactoryBean<?> factory) {
			return factory.isSingleton() ? this.beans.getBean(name) : null;
		}
		return bean;
	}

	private @Nullable String obstacleOf(Class<?> type, @Nullable Object bean) {
		if (isRepository(type) || (bean != null && isRepository(bean.getClass()))) {
			return "belongs to a Spring Data repository";
		}
		if (type.isHidden()) {
			return "belongs to a lambda, whose class name differs in each process";
		}
		if (this.beans.containsBeanDefinition(WEAVER)) {
			return "runs with transactions in AspectJ mode, which are inside all advice";
		}
		if (hasAdvice(bean) || (bean != null && this.beans.containsSingleton(BEAN_OVERRIDES))) {
			return null;
		}
		if (Modifier.isFinal(type.getModifiers()) || type.isSealed()) {
			return "belongs to a final class";
		}
		if (bean instanceof SpringProxy) {
			return "belongs to a proxy of the application that is frozen, opaque, or around another proxy";
		}
		return (bean == null) ? null
				: "belongs to a bean that was created too early for advice (a bean post-processor depends on it)";
	}

	private static @Nullable String obstacleOf(Class<?> type, Method method, @Nullable Object interfaceProxy) {
		int modifiers = method.getModifiers();
		if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers)) {
			return "is private or static";
		}
		if (interfaceProxy != null) {
			return isDeclaredBy(interfaceProxy, type, method) ? null
					: "is not declared by an interface of its bean, which is proxied by its interfaces";
		}
		if (Modifier.isFinal(modifiers)) {
			return "is final";
		}
		return isVisibleIn(type, method) ? null : "is package-private, and the class of its bean is in another package";
	}

	private static boolean isVisibleIn(Class<?> type, Method method) {
		return Modifier.isPublic(method.getModifiers()) || Modifier.isProtected(method.getModifiers())
				|| method.getDeclaringClass().getPackageName().equals(type.getPackageName());
	}

	private boolean hasAdvice(@Nullable Object bean) {
		return bean instanceof Advised advised && (Arrays.stream(advised.getAdvisors()).anyMatch(this::isOfAnnotation)
				|| hasAdvice(AopProxyUtils.getSingletonTarget(bean)));
	}

	private boolean isOfAnnotation(Advisor advisor) {
		return advisor instanceof AnnotatedMethodAdvisor<?> annotated && annotated.annotation() == this.annotation;
	}

	/**
	 * An interface may declare the method with type variables.
	 */
	private static boolean isDeclaredBy(Object proxy, Class<?> type, Method method) {
		return Arrays.stream(proxy.getClass().getInterfaces())
			.flatMap((declaring) -> Arrays.stream(declaring.getMethods()))
			.filter((declared) -> declared.getName().equals(method.getName()))
			.anyMatch((declared) -> AopUtils.getMostSpecificMethod(declared, type).equals(method));
	}

	private static boolean isRepository(Class<?> type) {
		return type.getName().equals(REPOSITORY)
				|| Arrays.stream(type.getInterfaces()).anyMatch(AnnotatedMethodsCheck::isRepository);
	}

	/**
	 * An annotated method of a bean.
	 *
	 * @param bean the name of the bean
	 * @param instance the bean without its proxies, or {@code null} if it has not been
	 * created, or is created for each use
	 * @param method the method
	 */
	public record BeanMethod(String bean, @Nullable Object instance, AnnotatedMethod method) {
	}

}
