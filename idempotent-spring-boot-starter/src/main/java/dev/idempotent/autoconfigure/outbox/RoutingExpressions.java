package dev.idempotent.autoconfigure.outbox;

import java.util.List;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
import org.springframework.expression.spel.support.DataBindingMethodResolver;
import org.springframework.expression.spel.support.DataBindingPropertyAccessor;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * Evaluates the expressions of Spring Modulith's targets and keys. They can use the event
 * and beans, and neither types nor constructors: a key that is computed from data may
 * look like an expression.
 */
final class RoutingExpressions {

	private RoutingExpressions() {
	}

	static EvaluationContext context(BeanFactory beanFactory) {
		StandardEvaluationContext context = new StandardEvaluationContext();
		context.setBeanResolver(new BeanFactoryResolver(beanFactory));
		context.setPropertyAccessors(List.of(DataBindingPropertyAccessor.forReadOnlyAccess()));
		context.setMethodResolvers(List.of(DataBindingMethodResolver.forInstanceMethodInvocation()));
		context.setConstructorResolvers(List.of());
		context.setTypeLocator((type) -> {
			throw new SpelEvaluationException(SpelMessage.TYPE_NOT_FOUND, type);
		});
		return context;
	}

}
