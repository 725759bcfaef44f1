package dev.idempotent.idempotency.method;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import dev.idempotent.idempotency.IdempotencyConfigurationException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.operation.OperationTerms;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * Looks at start-up for annotations that would have no effect, and for those that ask for
 * what cannot be.
 */
public final class IdempotentMethodsCheck {

	private static final Logger logger = LoggerFactory.getLogger(IdempotentMethodsCheck.class);

	private final IdempotentMethods methods;

	private final ConfigurableListableBeanFactory beans;

	private final AdviceReach reach;

	private final Set<SelfInvocations.Call> selfInvocations = new HashSet<>();

	/**
	 * Creates a check.
	 * @param methods knows the annotated methods
	 * @param beans the application
	 */
	public IdempotentMethodsCheck(IdempotentMethods methods, ConfigurableListableBeanFactory beans) {
		this.methods = methods;
		this.beans = beans;
		this.reach = new AdviceReach(beans);
	}

	/**
	 * Checks the methods of all beans, be they created or not.
	 * @return how many annotated methods there are
	 * @throws IdempotencyConfigurationException if one cannot have what it asks for
	 */
	public int check() {
		int found = 0;
		for (String name : this.beans.getBeanNamesForType(Object.class, true, false)) {
			for (Class<?> type : isScopedProxy(name) ? List.<Class<?>>of() : typesOf(name)) {
				if (AnnotationUtils.isCandidateClass(type, Idempotent.class)) {
					found += check(name, type);
				}
			}
		}
		return found;
	}

	private int check(String name, Class<?> type) {
		Set<Method> annotated = MethodIntrospector.selectMethods(type,
				(Method method) -> AnnotatedElementUtils.hasAnnotation(method, Idempotent.class)
						&& this.methods.guaranteeOf(method, type) != null);
		for (Method method : annotated) {
			this.reach.check(name, type, method);
			this.methods.operationOf(type, method);
			if (this.reach.isCalledAround(name, method)) {
				logger.warn(
						"{} is called by its container, and its bean is in a circle of beans: where Spring "
								+ "hands it out before its proxy, each call runs. Break the circle, such as with @Lazy",
						OperationTerms.describe(type, method));
			}
		}
		SelfInvocations.of(type, annotated)
			.stream()
			.filter(this.selfInvocations::add)
			.forEach(
					(call) -> logger.warn(
							"{} calls the @Idempotent method {} of its own object, round its proxy: "
									+ "that call runs each time. Call it through another bean",
							call.caller(), call.callee()));
		return annotated.size();
	}

	/**
	 * A proxy with nothing behind it is what its interfaces say.
	 */
	private List<Class<?>> typesOf(String name) {
		Class<?> type = AutoProxyUtils.determineTargetClass(this.beans, name);
		if (type == null) {
			return List.of();
		}
		return Proxy.isProxyClass(type) ? List.of(type.getInterfaces()) : List.of(ClassUtils.getUserClass(type));
	}

	/**
	 * The beans behind it are checked themselves.
	 */
	private boolean isScopedProxy(String name) {
		return this.beans.containsBeanDefinition(ScopedProxyUtils.getTargetBeanName(name));
	}

}
