package dev.idempotent.idempotency.method;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Advises the annotated methods of one guarantee, which decides where the advice has to
 * sit.
 */
public final class IdempotentMethodAdvisor extends StaticMethodMatcherPointcutAdvisor {

	private final IdempotentMethods methods;

	private final Guarantee guarantee;

	/**
	 * Creates an advisor.
	 * @param methods knows the annotated methods
	 * @param guarantee that of the methods to advise
	 */
	public IdempotentMethodAdvisor(IdempotentMethods methods, Guarantee guarantee) {
		this.methods = methods;
		this.guarantee = guarantee;
		setClassFilter(new Candidates());
		setAdvice((MethodInterceptor) this::invoke);
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return this.methods.guaranteeOf(method, targetClass) == this.guarantee;
	}

	private @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		return this.methods.invoke(typeOf(invocation), invocation.getMethod(), invocation.getArguments(),
				invocation::proceed);
	}

	/**
	 * The class of a proxy with nothing behind it has another name in each process: its
	 * interface stands for it.
	 */
	private static Class<?> typeOf(MethodInvocation invocation) {
		Object target = invocation.getThis();
		Class<?> declaring = invocation.getMethod().getDeclaringClass();
		Class<?> type = (target != null) ? AopUtils.getTargetClass(target)
				: (invocation instanceof ProxyMethodInvocation call) ? call.getProxy().getClass() : declaring;
		return !Proxy.isProxyClass(type) ? type
				: Arrays.stream(type.getInterfaces()).filter(declaring::isAssignableFrom).findFirst().orElse(declaring);
	}

	private record Candidates() implements ClassFilter {

		@Override
		public boolean matches(Class<?> type) {
			return AnnotationUtils.isCandidateClass(type, Idempotent.class);
		}

	}

}
