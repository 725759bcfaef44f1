package dev.idempotent.saga.method;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.aop.ThreadContext;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.DefaultAdvisorChainFactory;
import org.springframework.aop.framework.ReflectiveMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.AopUtils;

/**
 * The body of a saga: the method of the bean with the advice that is inside the advice of
 * this library. The first run and a take-over enter it in the same way.
 */
final class AdvisedBody {

	private final Advisor advisor;

	private final AnnotatedMethod method;

	private final Supplier<Object> bean;

	/**
	 * Creates a body.
	 * @param advisor the advisor of this library
	 * @param method the method
	 * @param bean supplies the bean, with all of its advice
	 */
	AdvisedBody(Advisor advisor, AnnotatedMethod method, Supplier<Object> bean) {
		this.advisor = advisor;
		this.method = method;
		this.bean = bean;
	}

	/**
	 * Runs the body without a principal and a request, like later runs on worker threads.
	 * Restores them afterwards.
	 */
	@Nullable Object run(@Nullable Object[] arguments) throws Throwable {
		Runnable request = ThreadContext.detachRequest();
		try {
			Runnable principal = ThreadContext.detachPrincipal();
			try {
				return proceed(arguments);
			}
			finally {
				principal.run();
			}
		}
		finally {
			request.run();
		}
	}

	// Arguments may be null, which the superclass does not state.
	@SuppressWarnings("NullAway")
	private @Nullable Object proceed(@Nullable Object[] arguments) throws Throwable {
		Advised proxy = findAdvised();
		TargetSource source = proxy.getTargetSource();
		Object target = source.getTarget();
		try {
			return new ReflectiveMethodInvocation(proxy, target, invocable(target), arguments, this.method.type(),
					innerAdvice(proxy)) {
			}.proceed();
		}
		finally {
			if (target != null && !source.isStatic()) {
				source.releaseTarget(target);
			}
		}
	}

	/**
	 * The proxy with the advice of this library may be the target of another proxy.
	 */
	private Advised findAdvised() {
		Object each = this.bean.get();
		while (each instanceof Advised advised) {
			if (advised.indexOf(this.advisor) >= 0) {
				return advised;
			}
			each = AopProxyUtils.getSingletonTarget(advised);
		}
		throw new IllegalStateException("The bean of the saga " + this.method.describe() + " is not advised");
	}

	private Method invocable(@Nullable Object target) {
		return (target == null || this.method.method().getDeclaringClass().isInstance(target)) ? this.method.method()
				: AopUtils.selectInvocableMethod(this.method.method(), target.getClass());
	}

	private List<Object> innerAdvice(Advised proxy) {
		List<Object> all = DefaultAdvisorChainFactory.INSTANCE.getInterceptorsAndDynamicInterceptionAdvice(proxy,
				this.method.method(), this.method.type());
		int own = all.indexOf(this.advisor.getAdvice());
		List<Object> inner = new ArrayList<>();
		if (all.contains(ExposeInvocationInterceptor.INSTANCE)) {
			// First in the chain, and needed by any AspectJ advice after it.
			inner.add(ExposeInvocationInterceptor.INSTANCE);
		}
		inner.addAll(all.subList(own + 1, all.size()));
		return inner;
	}

}
