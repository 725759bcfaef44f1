'use strict';

const byId = (id) => document.getElementById(id);

function element(parent, tag, className, text) {
  const child = document.createElement(tag);
  child.className = className;
  child.textContent = text;
  parent.appendChild(child);
  return child;
}

function onClick(id, action) {
  byId(id).addEventListener('click', action);
}

function onSubmit(id, action) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault();
    action();
  });
}
