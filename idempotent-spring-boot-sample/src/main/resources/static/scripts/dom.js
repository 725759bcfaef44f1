'use strict';

const SVG = 'http://www.w3.org/2000/svg';

const byId = (id) => document.getElementById(id);

function element(parent, tag, className, text) {
  const child = document.createElement(tag);
  child.className = className;
  child.textContent = text;
  parent.appendChild(child);
  return child;
}

function svgElement(parent, tag, attributes) {
  const child = document.createElementNS(SVG, tag);
  Object.keys(attributes).forEach((name) => child.setAttribute(name, attributes[name]));
  parent.appendChild(child);
  return child;
}

/** Replaces a text only if it differs: a live region is announced at each replacement. */
function showText(id, text) {
  const node = byId(id);
  if (node.textContent !== text) {
    node.textContent = text;
  }
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

function chosen(name) {
  return document.querySelector('input[name=' + name + ']:checked').value;
}

function counted(number, noun) {
  return number + ' ' + noun + (number === 1 ? '' : 's');
}

/** Returns a number with its digits in groups of three. */
function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}
